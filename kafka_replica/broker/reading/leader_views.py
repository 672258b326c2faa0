"""The proof, from the metadata of several brokers, that a partition has no newer leader. No I/O.

A frozen leader that was replaced reports old end offsets for a moment. The new leader acknowledges a record when all of
its in-sync replicas have the record; these are at least ``min.insync.replicas`` brokers with a copy, itself included.
Each of these brokers has learned of the new leader before: a follower names the leader's epoch in its fetches
(KIP-320). So if more than *copies minus min.insync.replicas* brokers with a copy answer after the end offset was
queried, and none of them knows a newer leader, then no newer leader had acknowledged a record at the time of that
query, and the end offset covers all acknowledged records.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kafka_replica.broker.wire.messages import TopicMetadata


def newer_leader(views: Iterable[TopicMetadata], number: int, leader: int) -> int | None:
    """Return the node id of a newer leader of a partition; -1 if the newest view names none, None if none is newer.

    Args:
        views: the metadata of the topic from several brokers.
        number: the partition.
        leader: the node id of the known leader.
    """
    found = [(view.epochs.get(number, -1), view.leaders.get(number, -1)) for view in views]
    newest_epoch, newest = max(found)
    claimed = max((epoch for epoch, named in found if named == leader), default=-1)
    return newest if newest_epoch > claimed else None


def are_enough(views: Mapping[int, TopicMetadata], number: int, min_insync_replicas: int) -> bool:
    """Return whether at least one of these brokers would know a newer leader that has acknowledged a record.

    Args:
        views: the metadata of the topic from brokers, by their node ids.
        number: the partition.
        min_insync_replicas: the topic's setting ``min.insync.replicas``; 1 if it is not known.
    """
    copies = {node for view in views.values() for node in view.replicas.get(number, ())}
    return len(copies & views.keys()) > len(copies) - max(1, min_insync_replicas)
