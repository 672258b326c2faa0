"""Detection of contradictions between database and Kafka, which stop the producer until a person decides."""

from __future__ import annotations

from kafka_replica.producer.changes.fingerprint import Fingerprint
from kafka_replica.producer.relay.events import DatabaseState

_ADVICE = (
    "run `kafka-replica producer flush --new-incarnation` (in Python: flush(new_incarnation=True)), which sends what "
    "is pending, then all content of this database, and deletes everything else from the topics"
)
_LOST = (
    "{sent} transactions are marked as sent, but Kafka's progress topic knows of {arrived}: it was deleted or "
    "recreated, "
    "or a different one was used; check that this is the right cluster, then " + _ADVICE
)
_AHEAD = (
    "Kafka's progress topic knows transaction {arrived}, but only {recorded} were ever recorded: the database is older "
    "than the topic (a backup was restored, or a failover lost commits); switch to the newest database, or if this is "
    "the right one, " + _ADVICE
)
_OTHER_HISTORY = (
    "Kafka's progress topic says that transaction {arrived} has arrived, but the database does not contain that "
    "transaction, or another one of that number: it was restored from a backup or lost commits in a failover, and has "
    "recorded others since. These are not sent, and the topics contain transactions that this "
    "database does not know; switch to the database that has them, or if this is the right one, " + _ADVICE
)


def contradiction(state: DatabaseState, arrived: int, fingerprint: Fingerprint | None) -> str | None:
    """Return how database and Kafka contradict each other, with advice; None if they do not.

    Args:
        state: the state of the database.
        arrived: the last transaction that has arrived in Kafka.
        fingerprint: the fingerprint of that transaction as it was sent; None if unknown.
    """
    if arrived < state.sent_tx_id:
        return _LOST.format(sent=state.sent_tx_id, arrived=arrived)
    if arrived > state.last_tx_id:
        return _AHEAD.format(arrived=arrived, recorded=state.last_tx_id)
    if fingerprint is None:
        return None
    # Transactions that are marked as sent may have been cleaned up.
    is_gone = state.of_arrived is None and arrived > state.sent_tx_id
    is_another = state.of_arrived is not None and fingerprint.contradicts(state.of_arrived)
    return _OTHER_HISTORY.format(arrived=arrived) if is_gone or is_another else None
