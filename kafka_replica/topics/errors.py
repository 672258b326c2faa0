"""Errors of topic names."""

from __future__ import annotations

from kafka_replica.errors import UsageError

__all__ = ["TopicNameError"]


class TopicNameError(UsageError, ValueError):
    """A name of a topic or consumer group that no convention allows, or that is ambiguous."""
