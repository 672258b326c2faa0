"""The build hook: it compiles the parser where it can, and is never in the way where it cannot, unless required."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import shutil
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from support.paths import ROOT

VARIABLE = "KAFKA_REPLICA_COMPILED"
SOURCE = "kafka_replica/common/_records.c"
needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="NOT TESTED: there is no C compiler")


@pytest.fixture(scope="module")
def hook() -> ModuleType:
    """Return the module of the hook, which belongs to no package."""
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def build(hook: ModuleType, root: Path, version: str) -> tuple[dict[str, Any], list[str]]:
    """Call the hook as hatchling does; return the data of the build and the warnings."""
    warnings: list[str] = []
    data: dict[str, Any] = {"force_include": {}, "pure_python": True, "infer_tag": False}
    app = SimpleNamespace(display_warning=warnings.append)
    made = hook.CompilingHook(str(root), {}, None, None, str(root), "wheel", app)
    made.initialize(version, data)
    return data, warnings


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a folder with nothing but the source of the parser."""
    target = tmp_path / SOURCE
    target.parent.mkdir(parents=True)
    shutil.copy(ROOT / SOURCE, target)
    return tmp_path


def modules(root: Path) -> list[str]:
    """Return the names of all files beside the source."""
    return sorted(path.name for path in (root / SOURCE).parent.iterdir() if path.name != "_records.c")


@needs_compiler
def test_an_editable_installation(hook: ModuleType, checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An editable installation gets the module, which can be imported; its wheel stays one for every system."""
    monkeypatch.delenv(VARIABLE, raising=False)
    data, warnings = build(hook, checkout, "editable")
    assert (data["pure_python"], data["force_include"], warnings) == (True, {}, [])
    (name,) = modules(checkout)
    spec = importlib.util.spec_from_file_location("_records", (checkout / SOURCE).with_name(name))
    assert spec is not None
    assert importlib.util.module_from_spec(spec).__doc__ == "The compiled parser of record batches; see compiled.py."


@needs_compiler
def test_a_wheel(hook: ModuleType, checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wheel contains the module if that was requested, and is then for this system; otherwise it is as before."""
    monkeypatch.delenv(VARIABLE, raising=False)
    assert build(hook, checkout, "standard") == ({"force_include": {}, "pure_python": True, "infer_tag": False}, [])
    assert modules(checkout) == []
    monkeypatch.setenv(VARIABLE, "1")
    data, _ = build(hook, checkout, "standard")
    (name,) = modules(checkout)
    assert data["force_include"] == {str((checkout / SOURCE).with_name(name)): f"kafka_replica/common/{name}"}
    assert (data["pure_python"], data["infer_tag"]) == (False, True)


@pytest.mark.parametrize("compiler", ["no-such-compiler", f"{sys.executable} -c raise(SystemExit('broken')) --"])
def test_without_a_compiler(hook: ModuleType, checkout: Path, monkeypatch: pytest.MonkeyPatch, compiler: str) -> None:
    """An editable installation goes on without the module, also without an outdated one; a required one fails."""
    monkeypatch.setenv("CC", compiler)
    monkeypatch.delenv(VARIABLE, raising=False)
    outdated = (checkout / SOURCE).with_name(f"_records{importlib.machinery.EXTENSION_SUFFIXES[0]}")
    outdated.touch()
    _, warnings = build(hook, checkout, "editable")
    assert len(warnings) == 1
    assert "is not compiled; the same is done in Python" in warnings[0]
    assert modules(checkout) == []
    monkeypatch.setenv(VARIABLE, "1")
    for version in ("editable", "standard"):
        with pytest.raises(SystemExit, match="cannot be compiled"):
            build(hook, checkout, version)


def test_it_can_be_forbidden(hook: ModuleType, checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With 0 nothing is compiled."""
    monkeypatch.setenv(VARIABLE, "0")
    build(hook, checkout, "editable")
    assert modules(checkout) == []
