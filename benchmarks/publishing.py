"""The experiments on the reference producer: against a bare transactional loop; a full flush and its memory."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from benchmarks.stage import Stage
from chaos.postgres import LocalPostgres, find_binaries

Figures = dict[str, float]

_TURNS, _TRANSACTIONS = 10, 100  # 1,000 transactions of 100 records
_FLUSH_VALUE_BYTES = 100_000


def publishing(stage: Stage) -> Figures:
    """Run the bare loop and the outbox in turns, fewer in small runs, as in the bootstrap; then the full flush."""
    share = min(1.0, stage.records / 500_000)
    with tempfile.TemporaryDirectory() as folder, _postgres() as server:
        databases = {"": f"sqlite:///{folder}/outbox.db"}
        if server is not None:
            databases["postgres_"] = server.url("outbox")
        taken = _in_turns(stage, max(10, int(_TRANSACTIONS * share)), databases)
        records = stage.flush_mb * 1_000_000 // _FLUSH_VALUE_BYTES
        flush = stage.measure(
            "publish_flush", stage.bootstrap, stage.new_topic("flush"), records, _FLUSH_VALUE_BYTES,
            f"sqlite:///{folder}/flush.db",
        )  # fmt: skip
    bare = taken["bare"]
    figures = {"publish.bare_ms": bare["ms"], "publish.bare_cpu_ms": bare["cpu_ms"], "flush.s": flush["s"]}
    for name in databases:
        ours = taken[name]
        figures[f"publish.{name}ratio"] = bare["ms"] / ours["ms"]
        figures |= {f"publish.{name}{what}": ours[what] for what in ("ms", "cpu_ms", "record_ms")}
    if flush["above_mb"] > 0:
        figures["flush.mb"] = flush["above_mb"]
    return figures


def _in_turns(stage: Stage, transactions: int, databases: dict[str, str]) -> dict[str, dict[str, float]]:
    """Return the milliseconds per transaction of each program, over all turns."""
    programs = {"bare": stage.start("publish_bare", stage.bootstrap, stage.new_topic("bare"), transactions)}
    for name, url in databases.items():
        topic = stage.new_topic("outbox")
        programs[name] = stage.start("publish_outbox", stage.bootstrap, topic, transactions, url)
    sums: dict[str, Counter[str]] = {name: Counter() for name in programs}
    for program in programs.values():
        _answer(program)
    for _ in range(_TURNS):
        for name, program in programs.items():
            assert program.stdin is not None
            program.stdin.write("\n")
            program.stdin.flush()
            sums[name].update(_answer(program))
    for program in programs.values():
        program.communicate(timeout=60)
    done = _TURNS * transactions
    return {
        name: stage.noted(
            {
                "what": f"publishing, {name or 'sqlite_'}", "transactions": done,
                **{f"{what.removesuffix('s')}ms": 1000 * took / done for what, took in all_turns.items()},
            }
        )
        for name, all_turns in sums.items()
    }  # fmt: skip


def _answer(program: subprocess.Popen[str]) -> dict[str, float]:
    assert program.stdout is not None
    line: dict[str, float] = json.loads(program.stdout.readline() or '{"ended": 1}')
    if "ended" in line:
        raise EndedError(f"a program of the experiment ended early: {program.args!r}")
    return line


class EndedError(Exception):
    """A measured program did not complete its work."""


@contextmanager
def _postgres() -> Iterator[LocalPostgres | None]:
    """Provide a server with durable commits; None if this machine has none."""
    binaries = find_binaries()
    if binaries is None:
        yield None
        return
    server = LocalPostgres(binaries, durable=True)
    try:
        server.start()
        yield server
    finally:
        server.stop()
