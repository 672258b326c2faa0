"""Measures, prints the table, writes lines and a picture: ``make bench``. docs/speed.md says what each figure means."""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from rich.console import Console

from benchmarks.experiments import EXPERIMENTS
from benchmarks.figures import FIGURES, HEADERS, HTTP, PUBLISHING, READERS, VALIDATION, Figure
from benchmarks.java import GlobalKTable, NotMeasurableError
from benchmarks.page import into_page, into_section
from benchmarks.picture import picture
from benchmarks.report import Result, as_markdown, as_table
from benchmarks.sizing import SIZES, machine_load, tables
from benchmarks.sizing import into_page as into_sizing_page
from benchmarks.stage import ROOT, Stage
from kafka_replica.embedded import LocalKafka

_BUILD = ROOT / "build"
_SECTIONS = {
    "reading": READERS,
    "publishing": PUBLISHING,
    "validation": VALIDATION,
    "headers": HEADERS,
    "http": HTTP,
}  # an experiment, and figures that are shown separately

_REPLICA = (
    "bootstrap", "bootstrap-compressed", "bootstrap-small-values", "bootstrap-brokers", "small", "apply", "visible",
    "lookups", "load", "checkpoint", "disk", "disk-apply", "disk-lookups", "disk-flush",
)  # fmt: skip


def options() -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="ratios are taken within a round; medians over them")
    parser.add_argument("--records", type=int, default=500_000, help="of the topic of the bootstrap, 1 KB each")
    parser.add_argument("--small-records", type=int, default=50_000, help="of the small topic")
    parser.add_argument("--flush-mb", type=int, help="of the producer's full flush; a share of 1000, as of the records")
    only = "may be given several times; replica: all of the replica itself; sizing runs alone, for docs/sizing.md"
    parser.add_argument("--only", choices=["replica", *EXPERIMENTS, "sizing"], action="append", help=only)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="of the topics of sizing")
    parser.add_argument("--docs", action="store_true", help="put the table and the picture into docs/speed.md")
    chosen = parser.parse_args()
    if "replica" in (chosen.only or ()):
        chosen.only = [*_REPLICA, *(name for name in chosen.only if name != "replica")]
    if chosen.flush_mb is None:
        chosen.flush_mb = max(1, int(1000 * min(1.0, chosen.records / 500_000)))
    if "sizing" in (chosen.only or ()) and chosen.only != ["sizing"]:
        parser.error("--only sizing runs alone")
    others = set(chosen.only or ()) - _SECTIONS.keys() - {"sizing"}
    if chosen.docs and others and others != {*_REPLICA}:
        parser.error("--docs shows whole tables: leave out --only, or say --only replica or " + " or ".join(_SECTIONS))
    return chosen


class Lines:
    """The file ``build/bench.jsonl``, with one line per measurement."""

    def __init__(self) -> None:
        _BUILD.mkdir(exist_ok=True)
        self._file = (_BUILD / "bench.jsonl").open("w")
        self.round = 0

    def note(self, line: dict[str, Any]) -> None:
        """Write a line."""
        self._file.write(json.dumps({"round": self.round, **line}) + "\n")
        self._file.flush()


def globalktable(console: Console, wanted: Sequence[str]) -> GlobalKTable | None:
    """Return the peer in Java; print a visible warning if it is missing."""
    if not {"bootstrap", "visible", "disk"} & set(wanted):
        return None
    try:
        return GlobalKTable()
    except NotMeasurableError as error:
        console.print(f"[bold red]NOT MEASURED: everything against Kafka Streams' GlobalKTable:[/] {error}")
        return None


def measure(console: Console, chosen: argparse.Namespace, lines: Lines) -> dict[str, list[float]]:
    """Run all rounds; return the values of each figure."""
    wanted = chosen.only or list(EXPERIMENTS)
    values: dict[str, list[float]] = defaultdict(list)
    peer = globalktable(console, wanted)
    with LocalKafka(heap_mb=512) as kafka:
        stage = Stage(kafka, chosen.records, chosen.small_records, lines.note, peer, chosen.flush_mb)
        for number in range(1, chosen.rounds + 1):
            lines.round = number
            for name in wanted:
                for figure, value in EXPERIMENTS[name](stage).items():
                    values[figure].append(value)
                console.print(f"round {number} of {chosen.rounds}: {name} done", style="dim", highlight=False)
    return values


def measure_sizes(console: Console, chosen: argparse.Namespace, lines: Lines) -> None:
    """Measure memory, disk and time against size once; print the tables, and put them into their page."""
    sizes = [int(size) for size in chosen.sizes.split(",")]
    when = (
        f"{datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}, Python "
        f"{platform.python_version()}, the broker on the same machine; {machine_load()}."
    )
    with LocalKafka(heap_mb=512) as kafka:
        text = tables(Stage(kafka, max(sizes), min(sizes), lines.note, None), sizes, when)
    console.print(text, highlight=False)
    if chosen.docs:
        into_sizing_page(text)
        console.print("docs/sizing.md")


def circumstances(chosen: argparse.Namespace) -> str:
    """Return the time, the machine and the sizes of the run, in one line."""
    rounds = f"{chosen.rounds} round{'s' if chosen.rounds > 1 else ''}"
    return (
        f"{datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}, Python "
        f"{platform.python_version()}, the broker on the same machine; {chosen.records:,} records of 1 KB "
        f"(small: {chosen.small_records:,}), {rounds}"
    )


_LIBRARIES = {
    "reading": ("lxml", "msgspec", "sdmx1", "pysdmx"),
    "publishing": ("confluent-kafka", "SQLAlchemy"),
    "validation": ("pyspark", "polars", "pandas"),
    "headers": ("cramjam", "cryptography"),
    "http": ("starlette", "uvicorn", "httptools", "h11"),
}


def circumstances_of(section: str, chosen: argparse.Namespace) -> str:
    """Return the circumstances of a section, in one line."""
    libraries = ", ".join(f"{name} {version(name)}" for name in _LIBRARIES[section])
    rounds = f"{chosen.rounds} round{'s' if chosen.rounds > 1 else ''}"
    machine = f"{os.cpu_count()} cores, Python {platform.python_version()}"
    share = min(1.0, chosen.records / 500_000)
    size = (
        f"; {1000 * share:.0f} transactions of 100, a flush of {chosen.flush_mb / 1000:g} GB"
        if section == "publishing"
        else ""
    )
    size = f"; {min(2_000_000, 4 * chosen.records):,} rows" if section == "validation" else size
    return f"{datetime.now(UTC):%Y-%m-%d}, {machine}, {libraries}{size}; {rounds}"


def main() -> None:
    """Measure and report."""
    chosen = options()
    console = Console(stderr=True, width=None if sys.stderr.isatty() else 120)
    lines = Lines()
    if chosen.only == ["sizing"]:
        measure_sizes(console, chosen, lines)
        return
    values = measure(console, chosen, lines)
    results = _results(FIGURES, values)
    sections = {name: _results(figures, values) for name, figures in _SECTIONS.items()}
    everything = [*results, *(result for section in sections.values() for result in section)]
    lines.round = 0
    for name, of_rounds in values.items():
        lines.note({"figure": name, "median": statistics.median(of_rounds), "rounds": of_rounds})
    when = circumstances(chosen)
    tables = [as_markdown(each, when) for each in (results, *sections.values()) if each]
    (_BUILD / "bench.svg").write_text(picture(everything, when))
    (_BUILD / "bench.md").write_text("\n".join(tables))
    console.print(as_table(everything, when))
    console.print("build/bench.jsonl, build/bench.svg, build/bench.md")
    if chosen.docs and results:
        into_page(as_markdown(results, when), picture(results, when))
        console.print("docs/speed.md, docs/speed.svg")
    for name, section in sections.items():
        if chosen.docs and section:
            into_section(name, as_markdown(section, circumstances_of(name, chosen)))
            console.print(f"docs/speed.md: {name}")


def _results(figures: Mapping[str, Figure], values: Mapping[str, list[float]]) -> list[Result]:
    return [Result(figure, values[name]) for name, figure in figures.items() if name in values]


if __name__ == "__main__":
    main()
