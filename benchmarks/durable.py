"""The experiments on the store on disk."""

from __future__ import annotations

import json
import random
import tempfile
from pathlib import Path
from typing import TypeAlias

from benchmarks.programs.common import key_of
from benchmarks.stage import Stage
from kafka_replica.producer import TransactionalProducer

Figures: TypeAlias = dict[str, float]

_APPLY = 10_000, 1_000_000, 3_000  # few keys, many keys, transactions
_LOOKUPS = 500_000, 1024, 3  # keys, bytes of a value, passes
_FLUSH_VALUE_BYTES = 16 * 1024


def disk(stage: Stage) -> Figures:
    """Measure the bootstrap of the whole topic onto the disk, and a restart without new records."""
    topic = stage.filled_topic(stage.records)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        reference = stage.measure("rocks_reference", stage.bootstrap, topic, folder / "reference")
        ours = stage.measure("replica", stage.bootstrap, topic, "markers", folder / "ours")
        again = stage.measure("replica", stage.bootstrap, topic, "markers", folder / "ours")
        figures = {
            "disk.reference": reference["s"] / ours["s"],
            "disk.s": ours["s"],
            "disk.restart": again["s"] / ours["s"],
            "disk.restart_s": again["s"],
        }
        if stage.globalktable is not None:
            state = folder / "peer"
            first, second = (
                stage.noted(stage.globalktable.on_disk(stage.bootstrap, topic, state, stage.records)) for _ in range(2)
            )
            figures["disk.globalktable"] = first["s"] / ours["s"]
            figures["disk.restart_globalktable"] = second["s"] / again["s"]
    return figures


def disk_apply(stage: Stage) -> Figures:
    """Measure a small transaction applied to few keys and to many."""
    with tempfile.TemporaryDirectory() as folder:
        line = stage.measure("apply", *_APPLY, folder)
    return {"disk.apply": line["many_p50_us"] / line["few_p50_us"], "disk.apply_us": line["many_p50_us"]}


def disk_lookups(stage: Stage) -> Figures:
    """Measure look-ups of one key at a time, in random order."""
    with tempfile.TemporaryDirectory() as folder:
        line = stage.measure("rocks_lookups", *_LOOKUPS, folder)
    return {"disk.lookups": line["ratio"]}


def disk_flush(stage: Stage) -> Figures:
    """Rewrite all keys in one transaction of 2 GB (a share of it in small runs), and measure the memory."""
    records = int(2e9 / _FLUSH_VALUE_BYTES * min(1.0, stage.records / 500_000))
    topic = stage.new_topic("flush")
    dice = random.Random(5)
    settings = {"linger.ms": 5, "batch.size": 1_000_000, "transaction.timeout.ms": 600_000}
    producer = TransactionalProducer({"bootstrap.servers": stage.bootstrap, **settings}, topic, topic, timeout_s=600)
    with producer.transaction() as transaction:
        for number in range(records):
            transaction.put(key_of(number), b"first")
    producer.wait_visible(transaction.committed)
    with tempfile.TemporaryDirectory() as folder:
        program = stage.start("rocks_flush", stage.bootstrap, topic, folder, records)
        assert program.stdout is not None
        program.stdout.readline()
        with producer.transaction() as transaction:
            for number in range(records):
                transaction.put(key_of(number), dice.randbytes(_FLUSH_VALUE_BYTES))
        output, _ = program.communicate(timeout=900)
    line = stage.noted(json.loads(output.splitlines()[-1]))
    return {"disk.flush_mb": line["above_mb"]}
