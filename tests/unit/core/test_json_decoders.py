"""Decoders that threads make at the same time."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.import_graph import PACKAGES
from support.paths import ROOT

_AT_ONCE = """
import sys, threading
sys.setswitchinterval(1e-6)
{prepare}
start = threading.Barrier(4)

def run():
    start.wait()
    {run}

threads = [threading.Thread(target=run) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("all decoded")
"""
_NEW_TYPES = """
import msgspec
from kafka_replica.common.json_decoders import json_decoder, prepared

def types(number):
    inner = msgspec.defstruct(f"Inner{number}", [(f"f{at}", "list[str] | None", None) for at in range(30)])
    return msgspec.defstruct(f"Outer{number}", [(f"f{at}", list[inner] | None, None) for at in range(30)])

new = [types(number) for number in range(200)]
"""
_READER = "from kafka_replica.sdmx.formats.sdmx_json import reader"
_PYSDMX = """
import pysdmx.io
from kafka_replica.sdmx.exchange.pysdmx import to_pysdmx
from support.server.registry import ARTEFACTS
codelist = next(one for one in ARTEFACTS.values() if one.urn.cls == "Codelist")
"""


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("prepare", "run"),
    [
        (_NEW_TYPES, """[json_decoder(one).decode(b'{"f29": [{"f29": ["x"]}]}') for one in new]"""),
        (_NEW_TYPES, """[msgspec.convert({"f29": [{"f29": ["x"]}]}, prepared(one)) for one in new]"""),
        (_READER, """reader._outline().decode(b'{"data": {"codelists": []}, "meta": {}}')"""),
        (_PYSDMX, "to_pysdmx(codelist)"),
    ],
    ids=["decoders", "conversions", "SDMX-JSON", "pysdmx"],
)
def test_threads_that_need_a_type_for_the_first_time_end_no_process(prepare: str, run: str) -> None:
    """Several threads make decoders of the same types and use them at once; without a lock, most runs crash."""
    for _ in range(3):
        code = _AT_ONCE.format(prepare=prepare, run=run)
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (0, "all decoded\n"), done.stderr


def test_no_other_module_makes_decoders() -> None:
    """All decoders are made under the lock, and only prepared types, and lists and dictionaries, are converted to."""
    found = {
        (str(path.relative_to(ROOT)), call)
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        for call in _calls(path)
    }
    assert found == {
        ("kafka_replica/common/json_decoders.py", "Decoder"),
        ("kafka_replica/data/files/messages/json/reading.py", "msgspec.convert"),
        ("kafka_replica/data/files/messages/json/unread_members.py", "msgspec.json.decode"),
    }


def _calls(path: Path) -> Iterator[str]:
    """Yield the functions of msgspec that a module calls, and for which a type is prepared."""
    source = path.read_text()
    if "msgspec" not in source:
        return
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            is_typed_call = name.endswith(".decode") and any(each.arg == "type" for each in node.keywords)
            if name in {"Decoder", "msgspec.convert"} or name.endswith(".Decoder") or is_typed_call:
                yield name
        if isinstance(node, ast.ImportFrom) and node.module == "msgspec":
            yield from (each.name for each in node.names if each.name == "convert")
