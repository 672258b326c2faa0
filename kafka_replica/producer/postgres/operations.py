"""Single operations on a table source: a comparison, and the claim of a database that was moved."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from typing import Final

from kafka_replica.producer.notices.notices import Notice
from kafka_replica.producer.postgres.comparison import Differences
from kafka_replica.producer.postgres.copying import TableCopy
from kafka_replica.producer.postgres.database import connect
from kafka_replica.producer.postgres.sessions import kafka_session, topic_reader
from kafka_replica.producer.postgres.settings import TableSourceSettings

REQUESTED: Final = "a comparison was requested"


def comparison_request(settings: TableSourceSettings) -> str:
    """Return the notification that requests a comparison from the copying instance."""
    return f"compare {settings.source_id}"


def compare(settings: TableSourceSettings, *, dry_run: bool = False) -> Differences | None:
    """Compare a table with its topic, and write the differences in one transaction.

    If an instance of the source is copying, it is requested to compare instead.

    Args:
        settings: the settings of the source.
        dry_run: whether to compare here without writing, even if an instance is copying.

    Returns:
        The differences; None if the copying instance was requested to compare.

    Raises:
        KafkaReplicaError: the database or Kafka cannot be reached, or refused.
    """
    with connect(settings) as connection:
        if not dry_run and not connection.try_lock():
            connection.notify(comparison_request(settings))
            return None
        with closing(kafka_session(settings, connection.database_id)) as session:
            progress = None if dry_run else session.connect(None, None, partial(connection.while_locked, 0))
            copy = TableCopy(settings, session, progress, topic_reader(settings), _ignore)
            with connection.snapshot() as table:
                return copy.differences(table) if dry_run else copy.compare(table, REQUESTED)


def claim(settings: TableSourceSettings) -> None:
    """Make a database the one that is copied under the id of the source; the next start compares table and topic.

    Raises:
        KafkaReplicaError: the database or Kafka cannot be reached, or refused.
    """
    with connect(settings) as connection, closing(kafka_session(settings, connection.database_id)) as session:
        session.claim()


def _ignore(_notice: Notice) -> None:
    """Ignore a notice."""
