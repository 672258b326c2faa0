"""The experiments: each runs its programs once, in turn, and returns the figures of that round."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from benchmarks.bootstraps import compressed, several_brokers, small_values
from benchmarks.codes import codes
from benchmarks.data_files import data_reading
from benchmarks.dates import date_maps
from benchmarks.directories import directories
from benchmarks.durable import disk, disk_apply, disk_flush, disk_lookups
from benchmarks.findings import findings
from benchmarks.headers import headers
from benchmarks.http import http
from benchmarks.load import load
from benchmarks.local_csv import local_csv
from benchmarks.publishing import publishing
from benchmarks.reading import reading
from benchmarks.stage import KEY_BYTES, VALUE_BYTES, Stage
from benchmarks.validation import validation, validation_large

Figures: TypeAlias = dict[str, float]

_APPLY = 10_000, 1_000_000, 3_000  # few keys, many keys, transactions
_VISIBLE_TRANSACTIONS = 300
_LOOKUPS = {200: 1_000_000, 1024: 100_000}  # bytes of a value -> keys
_PASSES = 3


class DisagreementError(Exception):
    """Two readers of one topic do not hold the same number of keys."""


def bootstrap(stage: Stage) -> Figures:
    """Measure the whole topic: replicas with both kinds of boundaries, the reference, GlobalKTable; and the memory."""
    topic = stage.filled_topic(stage.records)
    payload_bytes = stage.records * (KEY_BYTES + VALUE_BYTES)
    reference = stage.measure("reference", stage.bootstrap, topic)
    markers = stage.measure("replica", stage.bootstrap, topic, "markers")
    quiet = stage.measure("replica", stage.bootstrap, topic, "quiescence")
    _check_keys(stage.records, reference, markers, quiet)
    figures = {
        "bootstrap.markers": reference["s"] / markers["s"],
        "bootstrap.quiet": reference["s"] / quiet["s"],
        "bootstrap.s": markers["s"],
        "bootstrap.reference_s": reference["s"],
    }
    if markers["rss"] > 0:
        figures["memory.ratio"] = markers["rss"] / payload_bytes
        figures["memory.reference"] = reference["rss"] / payload_bytes
        figures["memory.same"] = markers["rss"] / reference["rss"]
    if stage.globalktable is not None:
        peer = stage.noted(stage.globalktable.bootstrap(stage.bootstrap, topic, stage.records))
        figures["bootstrap.globalktable"] = peer["s"] / markers["s"]
    return figures


def small(stage: Stage) -> Figures:
    """Measure a small topic: the delay of a service's start."""
    topic = stage.filled_topic(stage.small_records)
    reference = stage.measure("reference", stage.bootstrap, topic)
    markers = stage.measure("replica", stage.bootstrap, topic, "markers")
    _check_keys(stage.small_records, reference, markers)
    return {"small.s": markers["s"], "small.reference": reference["s"] / markers["s"]}


def apply(stage: Stage) -> Figures:
    """Measure a small transaction applied to few keys and to many."""
    line = stage.measure("apply", *_APPLY)
    return {"apply.ratio": line["many_p50_us"] / line["few_p50_us"]}


def visible(stage: Stage) -> Figures:
    """Measure from the commit's return until its records are visible."""
    p50_ms: dict[str, float] = {}
    p99_ms: dict[str, float] = {}
    for reader in ("poll", "wait_for", "subscribe", "quiet"):
        line = stage.measure("visible", stage.bootstrap, stage.new_topic("visible"), reader, _VISIBLE_TRANSACTIONS)
        p50_ms[reader], p99_ms[reader] = line["p50_ms"], line["p99_ms"]
    figures = {
        "visible.poll": p50_ms["wait_for"] / p50_ms["poll"],
        "visible.poll_p99": p99_ms["wait_for"] / p99_ms["poll"],
        "visible.subscribe": p50_ms["subscribe"] / p50_ms["poll"],
        "visible.quiet": p50_ms["quiet"] / p50_ms["poll"],
        "visible.ms": p50_ms["wait_for"],
    }
    if stage.globalktable is not None:
        peer = stage.globalktable.visible(stage.bootstrap, stage.new_topic("visible"), _VISIBLE_TRANSACTIONS)
        figures["visible.globalktable"] = p50_ms["wait_for"] / stage.noted(peer)["p50_ms"]
    return figures


def lookups(stage: Stage) -> Figures:
    """Measure look-ups of one key at a time, in random order."""
    figures: Figures = {}
    for value_bytes, keys in _LOOKUPS.items():
        line = stage.measure("lookups", keys, value_bytes, _PASSES)
        figures[f"lookups.{value_bytes}.first"] = line["first"]
        figures[f"lookups.{value_bytes}.repeated"] = line["repeated"]
    return figures


def checkpoint(stage: Stage) -> Figures:
    """Measure the bootstrap and close of a memory store, then a start from the checkpoint file."""
    topic = stage.filled_topic(stage.records)
    with tempfile.TemporaryDirectory() as folder:
        first, second = (stage.measure("checkpoint", stage.bootstrap, topic, Path(folder) / "file") for _ in range(2))
    _check_keys(stage.records, first, second)
    if second["records"]:
        raise DisagreementError(f"a start from the checkpoint file read {second['records']} records again")
    return {"checkpoint.restart": second["s"] / first["s"], "checkpoint.restart_s": second["s"]}


def _check_keys(expected: int, *lines: dict[str, Any]) -> None:
    wrong = [line for line in lines if line["keys"] != expected]
    if wrong:
        raise DisagreementError(f"of {expected} keys in the topic, this was read: {wrong}")


EXPERIMENTS: dict[str, Callable[[Stage], Figures]] = {
    "bootstrap": bootstrap,
    "bootstrap-compressed": compressed,
    "bootstrap-small-values": small_values,
    "bootstrap-brokers": several_brokers,
    "small": small,
    "apply": apply,
    "visible": visible,
    "lookups": lookups,
    "load": load,
    "checkpoint": checkpoint,
    "disk": disk,
    "disk-apply": disk_apply,
    "disk-lookups": disk_lookups,
    "disk-flush": disk_flush,
    "reading": reading,
    "publishing": publishing,
    "headers": headers,
    "codes": codes,
    "directories": directories,
    "http": http,
    "validation": validation,
    "validation-large": validation_large,
    "findings": findings,
    "local-csv": local_csv,
    "date-maps": date_maps,
    "data-reading": data_reading,
}
