"""Decoders that threads make at the same time."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import pysdmx.io
import pytest
from msgspec.json import Decoder

from kafka_replica.common import json_decoders
from kafka_replica.common.json_decoders import json_decoder
from kafka_replica.sdmx.exchange import to_pysdmx
from kafka_replica.sdmx.formats.fusion import reader as fusion
from kafka_replica.sdmx.formats.sdmx_json import reader as sdmx_json
from support.import_graph import PACKAGES
from support.server.registry import ARTEFACTS

_THREADS: Final = 4
_NEW_TYPES: Final = """
import os, signal, sys, threading
import msgspec
from concurrent.futures import ThreadPoolExecutor
from kafka_replica.common.json_decoders import json_decoder, prepared

def types(number):
    inner = msgspec.defstruct(f"Inner{number}", [(f"f{at}", "list[str] | None", None) for at in range(30)])
    return msgspec.defstruct(f"Outer{number}", [(f"f{at}", list[inner] | None, None) for at in range(30)])

new = [types(number) for number in range(200)]
sys.setswitchinterval(1e-6)
"""
_AT_ONCE: Final = """
start = threading.Barrier(4)

def run():
    start.wait()
    for one in new:
        EXPRESSION

with ThreadPoolExecutor(4) as threads:
    for done in [threads.submit(run) for _ in range(4)]:
        done.result()
"""
_FORKS: Final = """
def run():
    for one in new:
        json_decoder(one)

thread = threading.Thread(target=run)
thread.start()
forks = 0
while thread.is_alive():
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        for one in new[:150]:
            json_decoder(one).decode(b'{"f29": [{"f29": ["x"]}]}')
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    forks += 1
assert forks
"""


def _in_a_fresh_process(code: str) -> None:
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", f"{_NEW_TYPES}{code}\nprint('done')"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")


@pytest.mark.thorough
@pytest.mark.parametrize(
    "expression",
    [
        """json_decoder(one).decode(b'{"f29": [{"f29": ["x"]}]}')""",
        """msgspec.convert({"f29": [{"f29": ["x"]}]}, prepared(one))""",
    ],
)
def test_threads_that_need_a_type_for_the_first_time_end_no_process(expression: str) -> None:
    """Several threads make decoders of the same types and use them at once; without a lock, nearly all runs crash."""
    _in_a_fresh_process(_AT_ONCE.replace("EXPRESSION", expression))


@pytest.mark.thorough
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no forks")
def test_a_forked_process_makes_decoders() -> None:
    """A process that is forked while a thread makes decoders neither waits for that thread nor gets half a type."""
    _in_a_fresh_process(_FORKS)


class _OneAtATime:
    """A function that counts its calls, and the threads that are in it at the same time.

    Args:
        function: is called afterwards.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._inside = 0
        self.most = 0
        self.calls = 0

    def __call__(self, *args: Any, **options: Any) -> Any:
        self.calls += 1
        self._inside += 1
        self.most = max(self.most, self._inside)
        time.sleep(0.02)
        self._inside -= 1
        return self._function(*args, **options)


def _in_threads(function: Callable[[], object]) -> None:
    start = threading.Barrier(_THREADS)

    def run() -> None:
        start.wait()
        function()

    with ThreadPoolExecutor(_THREADS) as threads:
        for done in [threads.submit(run) for _ in range(_THREADS)]:
            done.result()


@pytest.mark.parametrize("first_use", [sdmx_json._outline, fusion._outline])
def test_decoders_at_their_first_use_are_made_one_at_a_time(first_use: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads that read their first message wait for each other."""
    made = _OneAtATime(Decoder)
    monkeypatch.setattr(json_decoders, "Decoder", made)
    first_use.cache_clear()
    _in_threads(first_use)
    assert (made.most, made.calls) == (1, _THREADS)
    first_use.cache_clear()


def test_pysdmx_reads_one_message_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its types are prepared at the first use, and another thread waits for that."""
    read = _OneAtATime(lambda *_args, **_options: SimpleNamespace(structures=["read"]))
    monkeypatch.setattr(pysdmx.io, "read_sdmx", read)
    codelist = next(one for one in ARTEFACTS.values() if one.urn.cls == "Codelist")
    _in_threads(lambda: to_pysdmx(codelist))
    assert (read.most, read.calls) == (1, _THREADS)


def test_a_thread_may_make_a_decoder_while_it_makes_one() -> None:
    """A type whose preparation makes a decoder, or a handler of a signal, does not wait for itself."""
    with json_decoders.ONE_AT_A_TIME:
        assert json_decoder(list[int]).decode(b"[1]") == [1]


@pytest.mark.thorough
def test_no_other_module_makes_decoders() -> None:
    """All decoders are made under the lock, and all types that others convert to are prepared, or have no fields."""
    found = sorted(
        (path.name, use) for folder in PACKAGES.values() for path in Path(folder).rglob("*.py") for use in _uses(path)
    )
    assert found == [
        ("json_decoders.py", "from msgspec.json import Decoder"),
        ("reading.py", "msgspec.convert(data, _STRUCTURE)"),
        ("unread_members.py", "msgspec.json.decode(data, type=_Members)"),
        ("unread_members.py", "msgspec.json.decode(value, type=kind | None)"),
    ]


@pytest.mark.parametrize(
    ("code", "uses"),
    [
        ("from msgspec.json import decode, encode", ["from msgspec.json import decode, encode"]),
        ("from msgspec import convert", ["from msgspec import convert"]),
        ("import msgspec as m", ["import msgspec as m"]),
        ("import msgspec\nmsgspec.json.Decoder(S)", ["msgspec.json.Decoder(S)"]),
        ("import msgspec\nmsgspec.json.Decoder[S](S)", ["msgspec.json.Decoder[S](S)"]),
        ("import msgspec\nmap(msgspec.json.Decoder, a)", ["msgspec.json.Decoder"]),
        ("import msgspec\nmsgspec.msgpack.decode(a, **b)", ["msgspec.msgpack.decode(a, **b)"]),
        ("import msgspec\nx: msgspec.json.Decoder[S]\nmsgspec.json.decode(a)", []),
    ],
)
def test_each_way_to_make_a_decoder_is_found(code: str, uses: list[str], tmp_path: Path) -> None:
    """No usual spelling is overlooked."""
    path = tmp_path / "module.py"
    path.write_text(code)
    assert list(_uses(path)) == uses


_PREPARING: Final = frozenset({"Decoder", "convert", "decode"})


def _uses(path: Path) -> Iterator[str]:
    """Yield each use of a function of msgspec that prepares a type."""
    source = path.read_text()
    tree = ast.parse(source if "msgspec" in source else "")
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import) and any(each.name.startswith("msgspec") and each.asname for each in node.names):
            yield ast.unparse(node)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "msgspec":
            if any(each.name in _PREPARING for each in node.names):
                yield ast.unparse(node)
        elif isinstance(node, ast.Attribute) and node.attr in _PREPARING and _is_of_msgspec(node):
            use: ast.AST = node
            while _is_called_or_parametrized(use, parents[use]):
                use = parents[use]
            if isinstance(use, ast.Attribute) or (isinstance(use, ast.Call) and _has_type(use, node.attr)):
                yield ast.unparse(use)


def _is_called_or_parametrized(node: ast.AST, parent: ast.AST) -> bool:
    return (isinstance(parent, ast.Call) and parent.func is node) or (
        isinstance(parent, ast.Subscript) and parent.value is node
    )


def _is_of_msgspec(node: ast.Attribute) -> bool:
    return ast.unparse(node).startswith("msgspec.")


def _has_type(call: ast.Call, name: str) -> bool:
    return name != "decode" or any(each.arg in {None, "type"} for each in call.keywords)
