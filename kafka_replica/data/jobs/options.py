"""Options of jobs, as they are written on a command line or in an address."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_replica.errors import UsageError


def severities_of(texts: Iterable[str], option: str) -> dict[str, str] | None:
    """Return the severities of rules in texts such as ``decimals=warning``; None if there are none.

    Args:
        texts: the texts.
        option: the name of the option, for errors.

    Raises:
        UsageError: a text does not have this form.
    """
    found: dict[str, str] = {}
    for text in texts:
        rule, equals, severity = text.partition("=")
        if not equals:
            raise UsageError(f"{option} {text!r}: say RULE=off, RULE=warning, RULE=error or RULE=information")
        found[rule.strip()] = severity.strip()
    return found or None
