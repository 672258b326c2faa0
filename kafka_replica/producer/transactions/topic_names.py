"""Parsing of topic names as users write them."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_replica.errors import ConfigurationError


def topic_names(topics: str | Sequence[str]) -> tuple[str, ...]:
    """Return the names in a text such as ``FOO,BAR`` or in a sequence, in order and without duplicates.

    Raises:
        ConfigurationError: no name is given.
    """
    names = topics.split(",") if isinstance(topics, str) else list(topics)
    unique = tuple(dict.fromkeys(name.strip() for name in names if name.strip()))
    if not unique:
        raise ConfigurationError("no topic to write to: name one, or several, as in FOO,BAR")
    return unique
