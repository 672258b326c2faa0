"""The package as a whole: its imports, and its errors where a library is missing."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import kafka_replica.sdmx

OURS = (
    "kafka_replica.errors",
    "kafka_replica.filters",
    "kafka_replica.common.garbage_collector",
    "kafka_replica.common.persistent_map",
    "kafka_replica.common.html_tables",
    "kafka_replica.common.json_decoders",
    "kafka_replica.records",
    "kafka_replica.sdmx",
    "kafka_replica.common.process",
    "kafka_replica.common.wording",
)

# Each optional library is imported in one file only.
ROOMS = {
    "tables/__init__.py": {"pandas", "polars", "pyarrow"},  # for types alone
    "tables/libraries.py": {"pandas", "polars", "pyarrow"},
    "exchange/sdmx1/library.py": {"sdmx"},
    "exchange/pysdmx.py": {"pysdmx"},
    "formats/xlsx/writer.py": {"xlsxwriter"},
}


def run(code: str) -> str:
    """Return the output of a fresh interpreter."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    return done.stdout


@pytest.mark.thorough
def test_the_package_imports_no_kafka_client() -> None:
    """No file of the package imports a Kafka client, or anything of kafka_replica except OURS."""
    room = Path(kafka_replica.sdmx.__file__).parent
    for path in room.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found = {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                found = {node.module or ""}
            else:
                continue
            for module in found:
                if module.startswith("kafka_replica"):
                    assert module.startswith(OURS), (path, module)
                else:
                    allowed = (
                        sys.stdlib_module_names
                        | {"lxml", "msgspec"}
                        | ROOMS.get(path.relative_to(room).as_posix(), set())
                    )
                    assert module.partition(".")[0] in allowed, (path, module)


@pytest.mark.thorough
def test_messages_are_read_without_a_kafka_client() -> None:
    """URNs and messages can be read where confluent-kafka is not installed."""
    printed = run(
        "import sys; sys.modules['confluent_kafka'] = None\n"
        "from kafka_replica.sdmx import Urn\nprint(Urn.of_reference('Codelist', 'SDMX:CL_FREQ(2.1)'))"
    )
    assert printed.strip() == "urn:sdmx:org.sdmx.infomodel.codelist.Codelist=SDMX:CL_FREQ(2.1)"


@pytest.mark.parametrize("library", ["lxml", "msgspec"])
@pytest.mark.parametrize("name", ["Structures", "read_message", "Codelist", "InternationalString", "model"])
def test_a_missing_library_is_named(library: str, name: str) -> None:
    """Without one of its libraries the package names the extra to install, whatever is used first."""
    wanted = "import kafka_replica.sdmx.model" if name == "model" else f"from kafka_replica.sdmx import {name}"
    printed = run(
        f"import sys; sys.modules[{library!r}] = None\n"
        "from kafka_replica.errors import MissingExtraError\n"
        f"try:\n    {wanted}\nexcept MissingExtraError as error:\n    print(error)"
    )
    assert "kafka-replica[sdmx]" in printed


@pytest.mark.thorough
def test_urns_and_versions_need_no_library() -> None:
    """URNs, their classes, versions and formats work, with the same results, without lxml and msgspec."""
    code = (
        "from kafka_replica.sdmx import Format, Urn\n"
        "from kafka_replica.sdmx.urns.urn import MAX_URN\n"
        "from kafka_replica.sdmx.urns.versions import newest, sort_key\n"
        "from kafka_replica.sdmx.errors import UrnError\n"
        "import pickle\n"
        "code = Urn.parse('urn:sdmx:org.sdmx.infomodel.codelist.Code=SDMX:CL_FREQ(2.1).A')\n"
        "again = pickle.loads(pickle.dumps(code))\n"
        "print(code, repr(code), code.maintainable, code.maintainable.reference, bytes(code) == str(code).encode())\n"
        "print(code == again, hash(code) == hash(again), len({code, again}), code != code.maintainable)\n"
        "print(sorted([Urn.of_reference('Codelist', f'SDMX:{id}(1.0)') for id in 'CAB']))\n"
        "print(newest('1.0+', ['1.0', '1.10', '1.9', '2.0-draft']), Format.EDI.title)\n"
        "try:\n    Urn.parse('nothing')\nexcept UrnError as error:\n    print(error)\n"
        "try:\n    code.id = 'X'\nexcept AttributeError as error:\n    print('immutable')\n"
    )
    blocked = "import sys; sys.modules.update(lxml=None, msgspec=None)\n"
    assert run(blocked + code) == run(code)
    assert "immutable" in run(code)


def test_every_public_name_is_there() -> None:
    """Each public name of the package exists, from its own module; other names are not attributes."""
    assert set(kafka_replica.sdmx.__all__) <= set(dir(kafka_replica.sdmx))
    assert all(getattr(kafka_replica.sdmx, name) is not None for name in kafka_replica.sdmx.__all__)
    assert set(kafka_replica.sdmx.__all__) == set(kafka_replica.sdmx._HOME_OF)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = kafka_replica.sdmx.nothing


def test_no_module_has_the_name_of_a_function() -> None:
    """No module of the package hides a public name: an import of the module would replace it on the package."""
    modules = {path.stem for path in Path(kafka_replica.sdmx.__file__).parent.iterdir()}
    assert not modules & set(kafka_replica.sdmx.__all__)
