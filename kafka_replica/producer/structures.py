"""Structures as records, one per maintainable artefact: its URN is the key, a message of it alone the value."""

from __future__ import annotations

from kafka_replica.producer.transactions import Transaction
from kafka_replica.sdmx import Part
from kafka_replica.sdmx.lookups.structures import CONTENT_TYPE


def put_part(transaction: Transaction, part: Part) -> None:
    """Write one artefact: its URN as key, its message as value, the content type in a header.

    Raises:
        PublishError: the artefact cannot be sent.
    """
    transaction.put(str(part.urn), part.value, ((CONTENT_TYPE, part.content_type.encode()),))
