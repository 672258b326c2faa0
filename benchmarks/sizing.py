"""Memory, disk and time to ready against the number of records, and many replicas on one broker: docs/sizing.md."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from benchmarks.stage import KEY_BYTES, ROOT, VALUE_BYTES, Stage

PAGE: Final = ROOT / "docs" / "sizing.md"
SIZES: Final = (10_000, 100_000, 1_000_000)
REPLICAS: Final = (1, 10, 50)
_SMALL = 10_000
_MIB = 1024 * 1024


def size_rows(stage: Stage, sizes: Iterable[int]) -> Iterator[list[str]]:
    """Measure each store at each size: a first start, and a restart of the one on disk; yield rows of the table."""
    for records in sizes:
        topic = stage.filled_topic(records)
        content = records * (KEY_BYTES + VALUE_BYTES)
        memory = stage.measure("replica", stage.bootstrap, topic, "markers")
        yield _row(records, content, "memory", memory, "")
        with tempfile.TemporaryDirectory() as folder:
            disk = stage.measure("replica", stage.bootstrap, topic, "markers", folder)
            used = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
            yield _row(records, content, "RocksDB", disk, _mib(used))
            again = stage.measure("replica", stage.bootstrap, topic, "markers", folder)
            yield _row(records, content, "RocksDB, restart", again, _mib(used))


def replica_rows(stage: Stage, replicas: Iterable[int]) -> Iterator[list[str]]:
    """Measure several replicas of one small topic on one broker; yield rows of the table."""
    topic = stage.filled_topic(_SMALL)
    for count in replicas:
        line = stage.measure("many_replicas", stage.bootstrap, topic, count, stage.kafka.pid)
        idle = f"{100 * line['idle_cpu'] / count:.2f} %", f"{100 * line['idle_broker_cpu']:.1f} %"
        yield [str(count), f"{line['s']:.2f} s", f"{_mib(line['rss'] / count)}", *idle]


def tables(stage: Stage, sizes: Iterable[int], when: str) -> str:
    """Measure everything; return both tables in Markdown, with the circumstances."""
    by_size = _table(
        ("records", "keys and values", "store", "time to ready", "processor time", "memory", "disk"),
        size_rows(stage, sizes),
    )
    by_count = _table(
        ("replicas", "all ready after", "memory of each", "processor of each, idle", "processor of the broker, idle"),
        replica_rows(stage, REPLICAS),
    )
    return (
        f"{when}\n\n{by_size}\nReplicas of one topic of {_SMALL:,} records in one process, on one broker:\n\n{by_count}"
    )


def into_page(text: str) -> None:
    """Put the tables between the marks of docs/sizing.md."""
    before, begin, rest = PAGE.read_text(encoding="utf-8").partition("<!-- sizing: written by make bench -->\n")
    _, end, after = rest.partition("<!-- end of sizing -->\n")
    PAGE.write_text(f"{before}{begin}\n{text}\n{end}{after}", encoding="utf-8")


def machine_load() -> str:
    """Return the load of the machine at the start, which tells whether others used it."""
    load = os.getloadavg()[0]
    busy = ", so that times are too long" if load > (os.cpu_count() or 1) else ""
    return f"load of the machine at the start: {load:.1f}{busy}"


def _row(records: int, content: int, store: str, line: dict[str, Any], disk: str) -> list[str]:
    times = f"{line['s']:.2f} s", f"{line['cpu_s']:.2f} s"
    return [f"{records:,}", _mib(content), store, *times, _mib(line["rss"]), disk]


def _mib(size: float) -> str:
    return f"{size / _MIB:,.1f} MiB" if size < 10 * _MIB else f"{size / _MIB:,.0f} MiB"


def _table(head: Iterable[str], rows: Iterable[list[str]]) -> str:
    names = list(head)
    lines = [names, ["---"] * len(names), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
