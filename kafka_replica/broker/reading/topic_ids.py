"""Topic ids in the text form in which Kafka prints them."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from uuid import UUID


def printed(topic_id: UUID) -> str:
    """Return a topic id in Kafka's text form."""
    return urlsafe_b64encode(topic_id.bytes).decode().rstrip("=")


def parsed(text: str) -> UUID:
    """Parse a topic id from Kafka's text form."""
    return UUID(bytes=urlsafe_b64decode(text + "=="))
