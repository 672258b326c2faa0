"""Structures as records: one a maintainable artefact, key = its URN, value = a message of it alone."""

from __future__ import annotations

from kafka_replica.producer.transactions import Transaction
from kafka_replica.sdmx import Part
from kafka_replica.sdmx.lookups.structures import CONTENT_TYPE


def put_part(transaction: Transaction, part: Part) -> None:
    """Write one artefact: key = its URN, value = its message, content type in a header.

    Raises:
        PublishError: it cannot be sent.
    """
    transaction.put(str(part.urn), part.value, ((CONTENT_TYPE, part.content_type.encode()),))
