"""Opening a log: with the reader and the rule that were asked for, or those that the broker allows."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from kafka_replica.broker.sources import Evidence, TooOldError
from kafka_replica.cuts import Rule
from kafka_replica.following import Following
from kafka_replica.patience import Patience
from kafka_replica.source import Opened, Source

_log = logging.getLogger("kafka_replica")

MakeSource = Callable[[Mapping[str, Any], Iterable[str], Evidence], tuple[Source, Rule]]
"""Makes a reader of these topics, and the rule that goes with its evidence."""


def open_log(
    following: Following, make_source: MakeSource, patience: Patience, open_: Callable[[Source], Opened]
) -> tuple[Source, Rule, Opened]:
    """A reader that is open, its rule, and what there was.

    Args:
        following: what is read.
        make_source: makes the reader.
        patience: waits for a broker that does not answer yet.
        open_: opens a reader.

    Raises:
        KafkaReplicaError: it cannot be opened; it is closed again.
        ClosedMeanwhileError: the replica is being closed.
    """
    try:
        return _open_by(following.evidence, following, make_source, patience, open_)
    except TooOldError as error:
        if following.evidence is not Evidence.AUTO:
            raise
        _log.info("reading with the confluent-kafka consumer, by quiet points: %s", error)
        return _open_by(Evidence.QUIET_POINTS, following, make_source, patience, open_)


def _open_by(
    evidence: Evidence,
    following: Following,
    make_source: MakeSource,
    patience: Patience,
    open_: Callable[[Source], Opened],
) -> tuple[Source, Rule, Opened]:
    source, rule = make_source(following.config, following.topics, evidence)
    try:
        return source, rule, patience.insist(source, lambda: open_(source))
    except BaseException:
        source.close()
        raise
