"""Reports of what cannot be checked, and their wording."""

from __future__ import annotations

import pytest

from kafka_replica.data.validation.evaluation import evaluate_condition
from support.rules.structures_by_hand import (
    FLOW,
    FLOWS,
    attribute,
    coded,
    codelist,
    constraint,
    dimension,
    keys,
    measure,
    region,
    rules_of,
    selected,
    structure,
    text,
    time,
    version_of,
)

AREA = codelist("AREA", ["EU", "W"])
PLAIN = structure(dimension("AREA", coded("AREA")), time(), measure())
YEAR_START = attribute("REPORTING_YEAR_START_DAY", text("MonthDay"))
BOUNDS = '<s:KeyValue id="TIME_PERIOD"><s:TimeRange><s:BeforePeriod>{}</s:BeforePeriod></s:TimeRange></s:KeyValue>'
IGNORED = "; an excluded region, key or selection has it, which is ignored"


def _of(representation: str) -> tuple[str, ...]:
    return AREA, structure(dimension("ID", text()), attribute("A", representation))


def _format(**facets: object) -> str:
    return coded("AREA") + text(**facets).replace("TextFormat", "EnumerationFormat")  # type: ignore[arg-type]


LOCALISED = '<s:Component id="NOTE"><s:Value xml:lang="en">%adjusted%</s:Value></s:Component>'
CASES: list[tuple[tuple[str, ...], list[str]]] = [
    (_of(_format(maxLength=2, pattern="E?[UW]")), []),
    (_of(_format(maxLength=1, pattern="W")), [
        "A: code EU of T:AREA(1.0) is longer than 1 character, as the format of its codes requires; codes",
        "A: code EU of T:AREA(1.0) does not match W, as the format"]),
    (_of(_format(text_type="Integer")), ["A: code EU of T:AREA(1.0) is not a valid Integer"]),
    (_of(text(minValue=1, decimals=2, startTime=2000)), [
        "A: facet minValue of text type String", "A: facet decimals of text type String",
        "A: facet startTime of text type String"]),
    (_of('<s:TextFormat maxValue="1"/>'), ["A: facet maxValue of text type String"]),
    (_of(text("Numeric", minValue=1)), []),
    (_of(text("GregorianYear", maxValue=2000)), ["A: facet maxValue of text type GregorianYear"]),
    (_of(text("Integer", isSequence="false", interval=2)), ["A: facet interval, because isSequence is false"]),
    (_of(text("InclusiveValueRange", isSequence="false", startValue=1, endValue=2)), []),
    (_of(text("Integer", interval=2)), []),
    (_of(text("Integer", interval=10**18)), ["A: facet interval 1000000000000000000"]),
    (_of(text("Decimal", interval=1, startValue="0.000000000000000001")), ["A: facet interval 1"]),
    (_of(text("Decimal", interval=1, startValue=10**18)), ["A: facet interval 1"]),
    (_of(text("Decimal", interval=10**17)), []),
    (_of(text("Decimal", decimals=2**31)), ["A: facet decimals 2147483648"]),
    (_of(text(minLength=2**31, maxLength=2**31)), ["A: facet minLength 2147483648"]),
    (_of(text("GregorianDay", timeInterval="P4000001D", startTime="2000-01-01")), ["A: facet timeInterval P4000001D"]),
    (_of(text("GregorianYear", timeInterval=f"P{10**20}Y", startTime="2000")), [f"A: facet timeInterval P{10**20}Y"]),
    (_of(text("ObservationalTimePeriod", timeInterval="P1M", startTime=2000)), [
        "A: facet timeInterval P1M of weeks, and of days of the year"]),
    (_of(text("GregorianYearMonth", timeInterval="P1M", startTime=2000)), []),
    (_of(text("GregorianYearMonth", startTime="2000-13")), ["A: facet startTime 2000-13"]),
    (_of(text(pattern="(^A$)|B")), ["A: pattern (^A$)|B (^ at the end of a group is a letter in XML Schema"]),
    (_of(text(pattern="\\p{IsBasicLatin}*")), ["A: pattern \\p{IsBasicLatin}* (\\p{IsBasicLatin} is not supported"]),
    (_of(text(pattern="^A$|^B$")), []),
    ((AREA, PLAIN, constraint(keys({"AREA": "EU", "FOO": "X"}, included="false"))), [
        f"FOO is not a component{IGNORED}"]),
    ((AREA, PLAIN, constraint(region(selected("AREA", "EU"), selected("FOO", "X"), include="false"))), [
        f"FOO is not a component{IGNORED}"]),
    ((AREA, PLAIN, constraint(region(BOUNDS.format("2010-13"), selected("AREA", "EU"), include="false"))), [
        f"TIME_PERIOD: the period 2010-13 is not understood{IGNORED}"]),
    ((AREA, PLAIN, constraint(region(BOUNDS.format("2010-Q5")))), ["the period 2010-Q5 is not understood"]),
    ((AREA, PLAIN, constraint(region(BOUNDS.format("2010-01-01/P1Y").replace(">", ' include="false">', 1)))), [
        f"TIME_PERIOD: the period 2010-01-01/P1Y is not understood{IGNORED}"]),
    ((AREA, structure(dimension("AREA", coded("AREA")), attribute("NOTE")), constraint(region(LOCALISED))), [
        "NOTE: values in the language en, because languages are not compared"]),
    ((AREA, PLAIN, constraint(region(LOCALISED.replace("NOTE", "AREA")))), []),
    ((AREA, structure(dimension("ID", text()), attribute("A", text(), "GROUP:NONE"))), [
        "A: consistency and presence, because it is attached to group NONE"]),
    ((structure(time(text("ObservationalTimePeriod", startTime=2000)), YEAR_START, measure()),), [
        "TIME_PERIOD: range of reporting periods where REPORTING_YEAR_START_DAY is not --01-01"]),
    ((structure(time(), YEAR_START, measure()),), []),
    ((AREA, PLAIN, constraint(region(selected("AREA", "EU")), version="1.0.0-draft")), [
        "T:C(1.0.0-draft): it is a draft, and no other version of it applies"]),
    ((AREA, PLAIN, constraint(region(selected("AREA", "EU")), version="1.0.0"),
      constraint(region(selected("AREA", "W")), version="1.1.0-draft")), []),
    ((AREA, PLAIN, FLOWS, constraint(region(selected("AREA", "EU")), version="1.0.0"),
      constraint(region(selected("AREA", "W")), "Dataflow", version="1.1.0")), [
        "T:C(1.0.0): it is superseded by urn:sdmx:org.sdmx.infomodel.registry.DataConstraint=T:C(1.1.0), which is"]),
    ((AREA, PLAIN, constraint(region(selected("AREA", "EU")), version="1.0.0"),
      constraint(region(selected("AREA", "W")), version="1.1.0")), []),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(CASES)))
def test_the_report_of_unchecked_rules_has_these_sentences(number: int) -> None:
    """The report of unchecked rules has exactly these sentences."""
    contents, wanted = CASES[number]
    found = rules_of(version_of(*contents)).unchecked
    assert len(found) == len(wanted), found
    assert [one for one, part in zip(found, wanted, strict=True) if part not in one] == []


def test_values_for_one_language_are_not_compared_with_texts() -> None:
    """A selection for one language yields no check, because texts are read without their language."""
    one = structure(dimension("ID", text()), attribute("NOTE"), measure())
    several = constraint(region(selected("ID", "A"), LOCALISED) + region(selected("ID", "B")))
    alone = [check.rule for check in rules_of(version_of(one, constraint(region(LOCALISED)))).checks]
    assert "value-not-allowed" not in alone
    [check] = [check for check in rules_of(version_of(one, several)).checks if check.rule == "region-not-allowed"]
    assert [evaluate_condition(check.broken, {"ID": id_, "NOTE": "bereinigt"}) for id_ in "ABC"] == [False, False, True]


def test_a_selection_that_a_higher_level_does_not_allow_is_reported() -> None:
    """The report names the constraint and the codes that the higher level does not allow."""
    higher = constraint(region(selected("AREA", "EU")))
    lower = constraint(region(selected("AREA", "EU", "W")), "Dataflow", "C2")
    [found] = rules_of(version_of(AREA, PLAIN, FLOWS, higher, lower), FLOW).unchecked
    assert found.endswith("C2(1.0): AREA: a higher level does not allow W; the higher level is used")
