"""Patterns of topic names: regular expressions as Kafka's consumers take them, and the prefixes of ACLs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Final


@dataclass(frozen=True, slots=True)
class TopicPattern:
    """The topics of a convention that have certain parts, such as all tenants' topics of an entity."""

    regex: str
    """The regular expression, from ``^`` to ``$``: librdkafka and Java's consumers subscribe to it as it is."""
    prefix: str
    """The text with which all these topics begin, for ACLs with ``--resource-pattern-type prefixed``. An ACL has no
    other wildcards, so it may allow more topics than the pattern has."""

    def matches(self, topic: str) -> bool:
        """Return whether a topic's name matches the pattern."""
        return re.fullmatch(self.regex, topic) is not None

    def select(self, topics: Iterable[str]) -> list[str]:
        """Return the topics among these, sorted; for ``Replica(topics=...)``."""
        return sorted(filter(self.matches, topics))


def pattern_of(parts: Sequence[str | re.Pattern[str]]) -> TopicPattern:
    """Return the pattern of names with these parts, each a text or any text that a regular expression describes.

    The groups are plain ones: librdkafka uses POSIX regular expressions, which have no others.
    """
    fixed = [*takewhile(lambda part: isinstance(part, str), parts)]
    prefix = "".join(f"{part}." for part in fixed)
    regexes = [part if isinstance(part, str) else f"({part.pattern})" for part in parts]
    return TopicPattern(f"^{_DOT.join(regexes)}$", prefix if len(fixed) < len(parts) else prefix.removesuffix("."))


_DOT: Final = r"\."
