"""Further bootstraps, each against the reference: compressed topics, small values, several brokers."""

from __future__ import annotations

from typing import TypeAlias

from benchmarks.stage import KEY_BYTES, Content, Stage, fill
from chaos.cluster import Cluster

Figures: TypeAlias = dict[str, float]

_PARTITIONS, _BROKERS, _WRITERS = 12, 3, 12
_SMALL_BYTES = 200


class DisagreementError(Exception):
    """Two readers of one topic do not hold the same number of keys."""


def compressed(stage: Stage) -> Figures:
    """Measure topics of compressible values, compressed by their producer."""
    figures: Figures = {}
    for codec in ("lz4", "zstd"):
        topic = stage.filled_topic(stage.records, Content(compression=codec, is_text=True))
        ours, reference = _both(stage, stage.bootstrap, topic, stage.records)
        figures[f"bootstrap.{codec}"] = reference["s"] / ours["s"]
    return figures


def small_values(stage: Stage) -> Figures:
    """Measure time and memory of a topic of values of 200 bytes."""
    topic = stage.filled_topic(stage.records, Content(value_bytes=_SMALL_BYTES))
    ours, reference = _both(stage, stage.bootstrap, topic, stage.records)
    figures = {"bootstrap.200": reference["s"] / ours["s"]}
    if ours["rss"] > 0:
        payload_bytes = stage.records * (KEY_BYTES + _SMALL_BYTES)
        figures["memory.200.reference"] = ours["rss"] / reference["rss"]
        figures["memory.200.ratio"] = ours["rss"] / payload_bytes
    return figures


def several_brokers(stage: Stage) -> Figures:
    """Measure a topic of twelve partitions, led by three brokers; they are started for each round."""
    with Cluster(_BROKERS) as cluster:
        topic = f"filled-{_PARTITIONS}"
        # A transaction waits for several answers of three brokers, one after the other: so many writers fill the topic.
        settings = {"cleanup.policy": "compact", "min.insync.replicas": "1"}
        cluster.create_topic(topic, _PARTITIONS, settings, replication_factor=1)
        fill(cluster.bootstrap, topic, stage.records, Content(), writers=_WRITERS)
        ours, reference = _both(stage, cluster.bootstrap, topic, stage.records)
    return {"bootstrap.brokers": reference["s"] / ours["s"]}


def _both(stage: Stage, bootstrap: str, topic: str, keys: int) -> tuple[dict[str, float], dict[str, float]]:
    """Measure the replica and the reference; return their lines."""
    reference = stage.measure("reference", bootstrap, topic)
    ours = stage.measure("replica", bootstrap, topic, "markers")
    if not ours["keys"] == reference["keys"] == keys:
        raise DisagreementError(f"of {keys} keys in {topic}, this was read: {ours}, {reference}")
    return ours, reference
