"""Patterns of topic names: regular expressions for the subscriptions of Kafka's consumers, and prefixes for ACLs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Final


@dataclass(frozen=True, slots=True)
class TopicPattern:
    """A pattern of the topics that have certain parts, such as all tenants' topics of an entity."""

    regex: str
    """The regular expression, from ``^`` to ``$``, in the form to which librdkafka and Java's consumers subscribe."""
    prefix: str
    """The text with which all matching topics begin, for ACLs with ``--resource-pattern-type prefixed``. ACLs have no
    other wildcards, so an ACL may allow more topics than the pattern matches."""

    def matches(self, topic: str) -> bool:
        """Return whether a topic's name matches the pattern."""
        return re.fullmatch(self.regex, topic) is not None

    def select(self, topics: Iterable[str]) -> list[str]:
        """Return the matching topics, sorted; for ``Replica(topics=...)``."""
        return sorted(filter(self.matches, topics))


def pattern_of(parts: Sequence[str | re.Pattern[str]]) -> TopicPattern:
    """Return the pattern of names whose parts are the given texts, or match the given regular expressions.

    Only plain groups are used, because librdkafka uses POSIX regular expressions, which have no other groups.
    """
    fixed = [*takewhile(lambda part: isinstance(part, str), parts)]
    prefix = "".join(f"{part}." for part in fixed)
    regexes = [part if isinstance(part, str) else f"({part.pattern})" for part in parts]
    return TopicPattern(f"^{_DOT.join(regexes)}$", prefix if len(fixed) < len(parts) else prefix.removesuffix("."))


_DOT: Final = r"\."
