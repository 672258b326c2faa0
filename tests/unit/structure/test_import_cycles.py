"""Modules do not import each other in circles: a reader can begin at the bottom, and a module can be moved alone."""

from pathlib import Path

import pytest

from support.import_graph import Time, find_cycle, import_graph, packages_only, read_graph


@pytest.mark.thorough
def test_no_modules_import_each_other_in_a_circle() -> None:
    """No cycle exists, not even through imports inside functions or for type checkers only."""
    found = find_cycle(import_graph().edges(*Time))
    assert not found, f"import cycle: {found}; move what these modules need of each other to a module below them"


@pytest.mark.thorough
def test_no_packages_import_each_other_in_a_circle() -> None:
    """The packages have an order, too, those of one layer included: of any two, at most one knows the other."""
    edges = packages_only(import_graph().edges(*Time), "kafka_replica")
    assert "stores" in edges["replication"]
    assert not find_cycle(edges)
    assert find_cycle({**edges, "common": {"records"}})


def test_a_planted_cycle_is_found_whenever_it_is_imported(tmp_path: Path) -> None:
    """The check fails for a cycle of module-level imports, one through a function, and one for type checkers."""
    (tmp_path / "__init__.py").write_text("")
    (tmp_path / "a.py").write_text("from pkg import b\n")
    for text, time in (
        ("from pkg.a import x\n", Time.MODULE),
        ("def f():\n    import pkg.a\n", Time.CALL),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from pkg.a import x\n", Time.TYPES),
    ):
        (tmp_path / "b.py").write_text(text)
        graph = read_graph({"pkg": tmp_path})
        assert set(find_cycle(graph.edges(Time.MODULE, time))) == {"pkg.a", "pkg.b"}
        assert bool(find_cycle(graph.edges(Time.MODULE))) is (time is Time.MODULE)
