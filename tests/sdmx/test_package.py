"""The room as a whole: what it imports, and what it says where a library is missing."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import kafka_replica.sdmx

OURS = ("kafka_replica.errors", "kafka_replica.filters", "kafka_replica.records", "kafka_replica.sdmx")


def run(code: str) -> str:
    """What a fresh interpreter prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    return done.stdout


def test_it_knows_nothing_of_brokers() -> None:
    """No file of the room imports a Kafka client, or anything of kafka_replica but errors, records and the room."""
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
                    assert module.partition(".")[0] in sys.stdlib_module_names | {"lxml", "msgspec"}, (path, module)


def test_it_works_without_a_kafka_client() -> None:
    """URNs and messages can be read where confluent-kafka is not installed."""
    printed = run(
        "import sys; sys.modules['confluent_kafka'] = None\n"
        "from kafka_replica.sdmx import Urn\nprint(Urn.of_reference('Codelist', 'SDMX:CL_FREQ(2.1)'))"
    )
    assert printed.strip() == "urn:sdmx:org.sdmx.infomodel.codelist.Codelist=SDMX:CL_FREQ(2.1)"


@pytest.mark.parametrize("library", ["lxml", "msgspec"])
def test_a_missing_library_is_named(library: str) -> None:
    """Without one of its libraries the room says which extra to install."""
    printed = run(
        f"import sys; sys.modules[{library!r}] = None\n"
        "from kafka_replica.errors import MissingExtraError\n"
        "try:\n    import kafka_replica.sdmx\nexcept MissingExtraError as error:\n    print(error)"
    )
    assert "kafka-replica[sdmx]" in printed
