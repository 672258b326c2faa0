"""The wording of findings about attributes above the observation."""

from __future__ import annotations

from support.rules.structures_by_hand import attribute, dimension, measure, rules_of, structure, text, time, version_of

LEVELS = structure(
    dimension("AREA", text()), dimension("SEX", text()), time(),
    attribute("UNIT", text(), "AREA,SEX", "mandatory"), attribute("TITLE", text(), "SEX", "mandatory"),
    attribute("SOURCE", text(), "DATASET", "mandatory"), measure(),
)  # fmt: skip


def test_a_finding_names_the_rows_that_share_the_value() -> None:
    """An attribute of a dimension is missing in rows with the same value of it, not in the dimension."""
    rules = rules_of(version_of(LEVELS))
    assert {check.message for check in rules.levels if check.rule != "column-missing"} == {
        "attribute UNIT is mandatory, but has no value in its series",
        "attribute UNIT has more than one value in its series",
        "attribute TITLE is mandatory, but has no value in any row with the same SEX",
        "attribute TITLE has more than one value in rows with the same SEX",
        "attribute SOURCE is mandatory, but has no value in the data set",
        "attribute SOURCE has more than one value in the data set",
    }
