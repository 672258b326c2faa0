"""Records of structures, one per maintainable artefact: the key is its URN, the value a message with only it."""

from __future__ import annotations

from kafka_replica.producer.transactions.transactional_producer import Transaction
from kafka_replica.sdmx import MessagePart
from kafka_replica.sdmx.lookups.structures import CONTENT_TYPE

__all__ = ["put_part"]


def put_part(transaction: Transaction, part: MessagePart) -> None:
    """Write one artefact, with its URN as key, its message as value, and the content type in a header.

    Raises:
        PublishError: the artefact cannot be sent.
    """
    transaction.put(str(part.urn), part.value, ((CONTENT_TYPE, part.content_type.encode()),))
