"""The findings of mapping: codes and severities. Sources refer to SDMX 3.1; S2 and S6 are its Sections 2 and 6."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from kafka_replica.data.validation.catalogue import changed_severities


class MapRule(NamedTuple):
    """A code, its default severity, the condition under which it is found, and the standard that defines it."""

    code: str
    severity: str
    found: str
    source: str


MAP_RULES: Final = {
    rule.code: rule
    for rule in (
        MapRule("unmapped-value", "error", "no rule of the representation map matches the values of the row",
                "S6 13.1: zero output series where no source rule matches"),
        MapRule("ambiguous-value", "error", "matching rules give a component different values",
                "S6 13.1: output series differ in their keys, not in their values"),
        MapRule("no-output", "error", "a dimension of the target gets no value",
                "S2 RepresentationMap: absence of an output is not an output value; S6 13.1"),
        MapRule("date-unreadable", "error", (
            "a date is not written as its pattern says, or is not a number of its "
            "epoch"
        ),
                "S6 13.7.1, 13.7.2"),
        MapRule("frequency-unknown", "error", "no date format is known for the frequency of the row", "S6 13.7"),
        MapRule("source-differs", "warning", "a source component differs from the fixed value that the map gives it",
                "S2 FixedValueMap"),
        MapRule("ambiguous-key", "error", "several rows become one observation", "S6 13.4"),
    )
}  # fmt: skip
"""All codes, in the order in which findings are listed."""


def severities_of_map_rules(changes: Mapping[str, str] | None = None) -> tuple[tuple[str, str], ...]:
    """Return the severity of each rule that is on.

    Args:
        changes: rule code to ``error``, ``warning``, ``information`` or ``off``.

    Raises:
        ConfigurationError: a rule or severity is unknown.
    """
    return changed_severities(
        {code: rule.severity for code, rule in MAP_RULES.items()}, changes, "mapping does not have this rule"
    )
