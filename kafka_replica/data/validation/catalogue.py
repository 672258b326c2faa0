"""The rules: their codes, their severities, and their names in other validators.

The names in other validators come from their documentation: the error codes of Fusion Metadata Registry ("REG-201-...")
from the page "Error Codes" of its wiki; and the message codes of Eurostat's structural validation, STRUVAL (error code
150), from "STRUVAL error codes and messages" and from the library that Eurostat distributes with its SDMX Converter
(1.6.7).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from kafka_replica.common.wording import did_you_mean
from kafka_replica.errors import ConfigurationError

SEVERITIES: Final = ("error", "warning", "information")
"""The severities, most severe first."""
OFF: Final = "off"
CELL_COUNT: Final = "cell-count"
"""The rule for CSV rows that cannot be read as observations; such rows are rejected whatever its severity."""


class RuleInfo(NamedTuple):
    """The description of a rule.

    Attributes:
        code: its name in findings.
        severity: its default severity.
        broken: the condition that violates it.
        fmr: its name in Fusion Metadata Registry, if published.
        struval: its name in STRUVAL, if published.
        source: the standard that defines it.
    """

    code: str
    severity: str
    broken: str
    fmr: str = ""
    struval: str = ""
    source: str = ""


CATALOGUE: Final = {
    info.code: info
    for info in (
        # of the data set
        RuleInfo("column-missing", "error", "no column for a component that a row must have", "", "003, 008, 060",
                 "2.1 S2"),
        RuleInfo("column-unknown", "warning", "a column is not a component", "201-001", "007, 009, 013, 026", "2.1 S2"),
        RuleInfo("column-duplicated", "error", "two columns are the same component", "", "", "CSV 2.0"),
        # of files
        RuleInfo("cell-count", "error", "a row of a CSV file has more or fewer cells than the header", "", "",
                 "CSV 2.0"),
        # structure
        RuleInfo("dimension-missing", "error", "a dimension (also the time dimension) is empty", "", "003, 032",
                 "2.1 S2"),
        RuleInfo(
            "attribute-missing",
            "error",
            "a mandatory attribute is empty: in the row, or in all rows of its series, group or data set",
            "201-051",
            "008, 010, 012",
            "2.1 S2",
        ),
        RuleInfo("measure-missing", "error", "a mandatory measure is empty", "", "", "3.0 S2"),
        # representation
        RuleInfo("code-unknown", "error", "a value is not a code of the codelist", "", "029", "2.1 S2"),
        RuleInfo("value-unknown", "error", "a value is not in the value list", "", "", "3.0 S2"),
        RuleInfo("text-type", "error", "a value does not have the form of its type", "", "030", "2.1 S6"),
        RuleInfo("time-period", "error", "a value is not a period of its type", "201-150", "030, 042", "2.1 S6"),
        RuleInfo("calendar", "error", "week 53 or day 366 in a year without it", "201-150", "", "2.1 S6"),
        RuleInfo("range", "error", "a number or period is out of the bounds of its type", "", "030", "2.1 S6"),
        RuleInfo("length", "error", "a text is too short or too long", "", "030", "2.1 S6"),
        RuleInfo("pattern", "error", "a whole value does not match the pattern", "", "030", "2.1 S6"),
        RuleInfo("decimals", "error", "more digits after the decimal point than allowed", "", "030", "2.1 S6"),
        RuleInfo("sequence", "error", "a number or period is not a step of its sequence", "", "030", "2.1 S6"),
        RuleInfo("occurrences", "error", "too many or too few values in one observation", "", "", "3.0 S2"),
        RuleInfo("language", "error", "text in several languages where one is allowed", "", "", "3.0 S6"),
        RuleInfo(
            "frequency", "error", "the period does not have the form that its frequency requires", "201-151", "",
            "2.1 S6, CL_FREQ",
        ),
        # constraints
        RuleInfo("value-not-allowed", "error", "a constraint does not allow a value", "", "034, 035, 038", "3.0 S6"),
        RuleInfo("region-not-allowed", "error", "a row is in no cube region, or in an excluded region", "", "",
                 "3.0 S6"),
        RuleInfo("key-not-allowed", "error", "a key is in no key set, or in an excluded key set", "", "037", "3.0 S6"),
        RuleInfo("value-not-valid", "error", "a value is not valid at the time of the observation", "201-007", "",
                 "3.0 S6"),
        # actions
        RuleInfo("action-unknown", "error", "the standard does not define this action", "", "", "CSV 2.0"),
        RuleInfo("action-empty", "error", "nothing to merge: neither a measure nor an attribute", "", "", "CSV 2.0"),
        RuleInfo("deletion-wide", "error",
                 "a deletion names something that its loader would ignore, and so delete more",
                 "", "", "CSV 2.0"),
        RuleInfo("switched-off", "error", "a dimension is switched off, and something depends on it", "", "",
                 "CSV 2.0"),
        # several rows
        RuleInfo("duplicate-key", "error", "two observations have the same key", "", "039", "2.1 S2"),
        RuleInfo("attribute-differs", "error", "an attribute differs in its series, group or data set", "", "",
                 "2.1 S2"),
    )
}  # fmt: skip
"""All rules by code, in the order of the guide."""


def severities_of_rules(changes: Mapping[str, str] | None = None) -> tuple[tuple[str, str], ...]:
    """Return the severity of each rule that is on.

    Args:
        changes: rule code to ``error``, ``warning``, ``information`` or ``off``.

    Raises:
        ConfigurationError: a rule or severity is unknown.
    """
    return changed_severities(
        {code: info.severity for code, info in CATALOGUE.items()}, changes, "there is no such rule"
    )


def changed_severities(
    usual: Mapping[str, str], changes: Mapping[str, str] | None, unknown: str
) -> tuple[tuple[str, str], ...]:
    """Return the changed severities of rules, without those that are off.

    Args:
        usual: rule code to default severity, for all existing rules.
        changes: the changed severities.
        unknown: the message for a rule that does not exist.

    Raises:
        ConfigurationError: a rule or severity is unknown.
    """
    changes = changes or {}
    for code, severity in changes.items():
        if code not in usual:
            hint = did_you_mean(code, usual, 3) or f"; rules: {', '.join(usual)}"
            raise ConfigurationError(f"setting rule {code!r}: {unknown}{hint}")
        if severity not in {*SEVERITIES, OFF}:
            raise ConfigurationError(
                f"setting rule {code!r} to {severity!r}: give one of {', '.join((*SEVERITIES, OFF))}"
            )
    wanted = ((code, changes.get(code, severity)) for code, severity in usual.items())
    return tuple((code, severity) for code, severity in wanted if severity != OFF)
