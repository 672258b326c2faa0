"""The deletions of a sweep, which follows a flush: all keys of the topic that the flush has not sent."""

from __future__ import annotations

from kafka_replica.producer.changes.fingerprint import Fingerprint, digest_of
from kafka_replica.producer.outbox.contents import RecordedContents
from kafka_replica.producer.outbox.recorded_transactions import Content, Contents, RecordedTransaction
from kafka_replica.producer.outbox.tables import TransactionKind
from kafka_replica.producer.relay.kafka_session import KafkaSession, SentTransaction


def contents_of_sweep(
    sweep: RecordedTransaction, flush: SentTransaction | None, recorded: RecordedContents, session: KafkaSession
) -> Contents:
    """Return the deletions of all keys that the topic has and the flush has not sent.

    Args:
        sweep: the sweep.
        flush: the flush before it, as it was sent; None if this is not known.
        recorded: the contents of the producer's transactions.
        session: the session, which knows the keys of the topic.
    """
    keep = _keys_to_keep(sweep.tx_id, flush, recorded, session)
    deletions = [Content(key, None, None) for key in session.present_keys() if key not in keep]
    return Contents(len(deletions), deletions, Fingerprint(sweep.recorded_ms, digest_of(sweep.kind, ())))


def _keys_to_keep(
    tx_id: int, flush: SentTransaction | None, recorded: RecordedContents, session: KafkaSession
) -> set[bytes]:
    """Return the keys that the flush has sent, without keys whose content cannot be represented."""
    if flush is not None and not flush.not_carried:
        return recorded.keys_as_of(tx_id)
    records = recorded.contents(RecordedTransaction(tx_id, TransactionKind.FLUSH, 0)).records
    return set(session.representable_keys(records))
