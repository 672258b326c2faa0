"""Rows for structures, the expected findings of each row, and their source. Both engines run all of them."""

# ruff: noqa: E501 - a table
from __future__ import annotations

from typing import Any, NamedTuple

from support.rules.structures_by_hand import AGREEMENT as PA
from support.rules.structures_by_hand import (
    DSD,
    FLOW,
    FLOWS,
    attribute,
    coded,
    codelist,
    constraint,
    dimension,
    extension,
    group,
    keys,
    measure,
    region,
    selected,
    structure,
    text,
    time,
    value_list,
)


class Case(NamedTuple):
    """A case: ``rows``, and the findings of each as ``rule COMPONENT value``."""

    name: str
    source: str
    contents: tuple[str, ...]
    rows: tuple[tuple[dict[str, Any], list[str]], ...]
    reference: str = DSD
    settings: dict[str, Any] = {}  # noqa: RUF012 - never changed
    dataset: tuple[str, ...] = ()


AREA = codelist("AREA", ["EU", "AT<EU", "W<AT", "DE<EU", "US"])
FREQ = codelist("FREQ", ["A", "S", "T", "Q", "M", "W", "D", "B", "H", "I", "A5", "_Z"])
D_AREA, D_SEX = dimension("AREA", coded("AREA")), dimension("SEX", text("AlphaNumeric"))
ONE = structure(dimension("ID", text()), measure())


def described(written: str) -> str:
    """Return an attribute that describes the measure M1."""
    related = "<s:MeasureRelationship><s:Measure>M1</s:Measure></s:MeasureRelationship>"
    return written.replace("</s:Attribute>", f"{related}</s:Attribute>")


def one(id_: str, representation: str, *rows: tuple[Any, str | None]) -> tuple[tuple[str, ...], Any]:
    """Return a structure with a single attribute and an id, and rows that differ in it."""
    made = structure(dimension("ID", text()), attribute(id_, representation), measure())
    return (made,), tuple(
        ({"ID": str(number), id_: value}, [] if rule is None else [f"{rule} {id_} {value}".rstrip(" ")])
        for number, (value, rule) in enumerate(rows)
    )


S6 = "SDMX 3.0 Section 6, Representation data types"
XSD = "SDMXStructureBase.xsd 3.1, TextFormatType"
CONSTRAINTS = "SDMX 3.0 Section 6, Constraints"
SEVERAL = "SDMX 3.0 Section 6, Multiple Constraints, Cube Region"
CSV = "SDMX-CSV 2.0 field guide, data actions"
TIME = "SDMX 3.0 Section 6, Time and time format"

REPRESENTATION = [
    Case("a code is told from what looks like one", "SDMX 3.0 Section 2, Codelist",
         (AREA, structure(D_AREA, measure())), (
             ({"AREA": "AT"}, []), ({"AREA": "at"}, ["code-unknown AREA at"]), ({"AREA": ""}, ["code-unknown AREA"]),
             ({"AREA": None}, ["dimension-missing AREA"]), ({"AREA": "AT\n"}, ["code-unknown AREA AT\n"]))),
    Case("codes of extended lists, with prefix, chosen, cascading", "SDMX 3.0 Section 6, Codelist extension", (
        AREA, codelist("MORE", ["OWN"], extension(
            "AREA", "X_", "<s:InclusiveCodeSelection><s:MemberValue cascadeValues=\"true\">AT</s:MemberValue>"
            "<s:MemberValue>U%</s:MemberValue></s:InclusiveCodeSelection>")),
        structure(dimension("AREA", coded("MORE")), measure())), (
             ({"AREA": "OWN"}, []), ({"AREA": "X_AT"}, []), ({"AREA": "X_W"}, []), ({"AREA": "X_US"}, []),
             ({"AREA": "X_DE"}, ["code-unknown AREA X_DE"]), ({"AREA": "AT"}, ["code-unknown AREA AT"]))),
    Case("value lists", "SDMX 3.0 Section 2, Value List", (
        value_list("VL", ["¥", "a,b", "x|y"]), structure(dimension("ID", text()), attribute("V", coded("VL", "ValueList")))),
        (({"ID": "1", "V": "¥"}, []), ({"ID": "2", "V": "a,b"}, []), ({"ID": "3", "V": "a"}, ["value-unknown V a"]),
         ({"ID": "4", "V": None}, []))),
    Case("whole numbers", S6, *one("N", text("Integer"), ("2147483647", None), ("-2147483648", None), ("+7", None),
         ("2147483648", "text-type"), ("1.0", "text-type"), ("1e3", "text-type"), (" 7", "text-type"), ("٣", "text-type"))),
    Case("long numbers", S6, *one("N", text("Long"), ("9223372036854775807", None), ("-9223372036854775808", None),
         ("000009223372036854775807", None), ("9223372036854775808", "text-type"), ("-9223372036854775809", "text-type"))),
    Case("short numbers", S6, *one("N", text("Short"), ("32767", None), ("32768", "text-type"), ("-32769", "text-type"))),
    Case("doubles as XML Schema writes them", S6, *one("N", text("Double"), ("1e3", None), ("NaN", None), ("-INF", None),
         (".5", None), ("1d", "text-type"), ("0x1p3", "text-type"), ("Infinity", "text-type"), ("#N/A", "text-type"))),
    Case("decimals have no exponent and no NaN", S6, *one("N", text("Decimal"), ("1.5", None), ("1e3", "text-type"),
         ("NaN", "text-type"), ("#N/A", None))),
    Case("bounds are in", XSD, *one("N", text("Decimal", minValue=0, maxValue="1.5"), ("0", None), ("1.50", None),
         ("-0.0", None), ("-0.000000000000000001", "range"), ("1.500000001", "range"), ("1" * 40, "range"))),
    Case("bounds of an exclusive range are out", XSD, *one("N", text("ExclusiveValueRange", minValue=0, maxValue=1),
         ("0.5", None), ("0", "range"), ("1.000", "range"), ("0.000000000000000001", None))),
    Case("bounds of a range that is no sequence", XSD, *one("N",
         text("InclusiveValueRange", isSequence="false", startValue=0, endValue=5, interval=-2), ("0", None), ("5", None),
         ("3", None), ("-1", "range"), ("6", "range"))),
    Case("bounds of an exclusive range that is no sequence", XSD, *one("N",
         text("ExclusiveValueRange", isSequence="false", startValue=0, endValue=5), ("1", None), ("0", "range"), ("5", "range"))),
    Case("lengths and digits that no text has", XSD, *one("N", text("Integer", maxLength=10**20, decimals=10**20, interval=10**20),
         ("1", None), ("x", "text-type"))),
    Case("bounds beyond what doubles hold", XSD, *one("N", text("BigInteger", maxValue="9007199254740992"),
         ("9007199254740992", None), ("9007199254740993", "range"), ("9007199254740991", None))),
    Case("digits after the point", XSD, *one("N", text("Decimal", decimals=2), ("1", None), ("1.25", None),
         ("1.250", "decimals"), ("-0.001", "decimals"))),
    Case("infinite numbers are out of all bounds", "XML Schema Part 2, double", *one("N",
         text("Double", minValue=0, maxValue=1), ("1", None), ("INF", "range"), ("-INF", "range"), ("NaN", None))),
    Case("infinite numbers are beyond one bound", "XML Schema Part 2, double", *one("N",
         text("Double", minValue=0), ("INF", None), ("-INF", "range"), ("1e400", None))),
    Case("bounds of digits", XSD, *one("N", text("Numeric", minValue=10, maxValue="20"), ("010", None), ("5", "range"),
         ("21", "range"), ("15.5", "text-type"))),
    Case("facets of a sequence where there is none", XSD, *one("N",
         text("Integer", isSequence="false", interval=2, startValue=0), ("1", None), ("-2", None))),
    Case("facets of a sequence, of which nothing is said", "practice", *one("N",
         text("Integer", interval=2, startValue=0), ("2", None), ("1", "sequence"), ("-2", "range"))),
    Case("lengths in characters", XSD, *one("S", text(minLength=2, maxLength=4), ("ab", None), ("𝄞𝄞𝄞𝄞", None),
         ("a", "length"), ("𝄞𝄞𝄞𝄞𝄞", "length"), ("", "length"))),
    Case("patterns of periods", "XML Schema Part 2, pattern facet", (
        FREQ, structure(dimension("FREQ", coded("FREQ")), time(text("ObservationalTimePeriod", pattern=r"[\w-[Q]]+")))), (
            ({"FREQ": "A", "TIME_PERIOD": "2020"}, []), ({"FREQ": "M", "TIME_PERIOD": "2020-01"}, ["pattern TIME_PERIOD 2020-01"]),
            ({"FREQ": "Q", "TIME_PERIOD": "2020-Q1"}, ["pattern TIME_PERIOD 2020-Q1"]))),
    Case("a pattern is for the whole value", "XML Schema Part 2, pattern facet", *one("S", text(pattern="[A-Z]{2}\\d"),
         ("AB1", None), ("AB1\n", "pattern"), ("xAB1", "pattern"), ("AB12", "pattern"), ("AB٣", None))),
    Case("patterns of XML Schema", "XML Schema Part 2, appendix F", *one("S", text(pattern="\\i\\c*[a-z-[aeiou]]"),
         ("abb", None), ("_.-z", None), ("1bb", "pattern"), ("aba", "pattern"))),
    Case("patterns that subtract from a negated class", "XML Schema Part 2, appendix F", *one("S", text(pattern="[^a-z-[0-9]]"),
         ("A", None), ("-", None), ("5", "pattern"), ("a", "pattern"))),
    Case("patterns that subtract a class with a subtraction", "XML Schema Part 2, appendix F", *one("S",
         text(pattern="[a-z-[^b-y-[z]]]"), ("b", None), ("y", None), ("z", None), ("a", "pattern"), ("B", "pattern"))),
    Case("patterns with a backslash", "XML Schema Part 2, appendix F", *one("S", text(pattern=r"[A-Z]:\\[a-z]+"),
         (r"C:\abc", None), ("C:abc", "pattern"), (r"C:\\abc", "pattern"))),
    Case("patterns with anchors, as registries have them", "practice", *one("S", text(pattern="^A|B$"),
         ("A", None), ("B", None), ("AB", "pattern"))),
    Case("patterns with anchors in each alternative", "practice", *one("S", text(pattern="^[A-Z]$|^[0-9]\\$$|^$"),
         ("A", None), ("7$", None), ("", None), ("7", "pattern"), ("A$", "pattern"), ("^7$", "pattern"))),
    Case("numbers in steps", XSD, *one("N", text("Decimal", isSequence="true", interval="0.5", startValue=1, endValue=3),
         ("1", None), ("2.50", None), ("3", None), ("1.25", "sequence"), ("0.5", "range"), ("3.5", "range"))),
    Case("steps downwards", XSD, *one("N", text("Integer", isSequence="true", interval=-2, startValue=10, endValue=2),
         ("10", None), ("4", None), ("2", None), ("5", "sequence"), ("12", "range"), ("0", "range"))),
    Case("steps below zero", XSD, *one("N", text("Integer", isSequence="true", interval=3, startValue=-7),
         ("-7", None), ("-4", None), ("2", None), ("0", "sequence"))),
    Case("periods in steps of months", XSD, *one("P", text("ObservationalTimePeriod", isSequence="true",
         timeInterval="P3M", startTime="2020-01"), ("2020-Q2", None), ("2020-04", None), ("2021", None),
         ("2020-05", "sequence"), ("2020-01-15", "sequence"), ("2019-10", "range"))),
    Case("periods that begin with a month, however they are written", XSD, *one("P", text("ObservationalTimePeriod",
         isSequence="true", timeInterval="P3M", startTime="2020-01"), ("2020-04-01/P3M", None), ("2020-D001", None),
         ("2020-04-01T00:00:00.0", None), ("2020-04-01T00:00:00Z/PT1H", None), ("2020-A1", None),
         ("2020-04-01T00:00:00.5", "sequence"), ("2020-05-01/P3M", "sequence"), ("2020-04-02/P3M", "sequence"))),
    Case("periods in steps of days", XSD, *one("P", text("GregorianDay", isSequence="true", timeInterval="P7D",
         startTime="2020-01-06"), ("2020-01-13", None), ("2020-03-02", None), ("2020-01-14", "sequence"))),
    Case("periods from and to", XSD, *one("P", text("ObservationalTimePeriod", startTime="2000", endTime="2010-06"),
         ("2000", None), ("2010-06-30", None), ("2010-W26", None), ("1999-12-31", "range"), ("2010-07", "range"),
         ("2010-W27", "range"), ("2010-D182", "range"), ("2010-D181", None))),
    Case("sentinel values", "SDMX 3.0 Section 2, Sentinel values", *one("N", text("Integer", ["-9", "none"], minValue=0),
         ("-9", None), ("none", None), ("-8", "range"))),
    Case("sentinel values of dimensions", "SDMXStructureBase.xsd 3.0, SimpleComponentTextFormatType", (
        structure(dimension("N", text("Integer", ["none"])), measure()), constraint(region(selected("N", "1")))), (
            ({"N": "1"}, []), ({"N": "none"}, []), ({"N": "2"}, ["value-not-allowed N 2"]),
            ({"N": "some"}, ["text-type N some", "value-not-allowed N some"]))),
    Case("values that stand for none are in no constraint", "SDMX 3.0 Section 6, Intentionally missing values", (
        AREA, structure(D_AREA, attribute("STAT", text("Integer", ["-9"])), measure()),
        constraint(region(selected("STAT", "1", kind="Component"), selected("OBS_VALUE", "2", kind="Component")))), (
            ({"AREA": "AT", "STAT": "-9", "OBS_VALUE": "NaN"}, []), ({"AREA": "DE", "STAT": "#N/A", "OBS_VALUE": "2"}, []),
            ({"AREA": "EU", "STAT": "9", "OBS_VALUE": "INF"}, ["value-not-allowed STAT 9", "value-not-allowed OBS_VALUE INF"]))),
    Case("values that stand for none in keys", "SDMX 3.0 Section 6, Intentionally missing values", (
        AREA, structure(D_AREA, dimension("N", text("Integer", ["none"])), measure()),
        constraint(keys({"AREA": "AT", "N": "1"}, {"AREA": "DE", "N": "2"}))), (
            ({"AREA": "AT", "N": "1"}, []), ({"AREA": "AT", "N": "none"}, []), ({"AREA": "DE", "N": "none"}, []),
            ({"AREA": "AT", "N": "2"}, ["key-not-allowed AT.2"]), ({"AREA": "US", "N": "none"}, ["key-not-allowed US.none"]))),
    Case("values that stand for none in one of several regions", "SDMX 3.0 Section 6, Intentionally missing values", (
        AREA, structure(D_AREA, attribute("STAT", text("Integer", ["-9"])), measure()),
        constraint(region(selected("AREA", "AT"), selected("STAT", "1", kind="Component"))
                   + region(selected("AREA", "DE"), selected("STAT", "2", kind="Component"))
                   + region(selected("AREA", "AT"), selected("STAT", "3", kind="Component", more='include="false"'),
                            include="false"))), (
            ({"AREA": "AT", "STAT": "-9"}, []), ({"AREA": "DE", "STAT": "#N/A"}, []), ({"AREA": "DE", "STAT": "2"}, []),
            ({"AREA": "AT", "STAT": "2"}, ["region-not-allowed AT.2"] * 2),
            ({"AREA": "US", "STAT": "-9"}, ["region-not-allowed US.-9"])),
         settings={"rules": {"duplicate-key": "off"}}),
    Case("other types", S6, *one("S", text("Boolean"), ("true", None), ("0", None), ("TRUE", "text-type"))),
    Case("letters and digits", S6, *one("S", text("Alpha"), ("aZ", None), ("a1", "text-type"), ("ä", "text-type"))),
    Case("durations", S6, *one("S", text("Duration"), ("P1Y2M", None), ("-PT1.5S", None), ("P", "text-type"),
         ("P1W", "text-type"), ("PT", "text-type"), ("P1YT", "text-type"))),
    Case("days of any year", S6, *one("S", text("MonthDay"), ("--02-29", None), ("--02-30", "text-type"))),
    Case("several values in one observation", "SDMX 3.0 Section 2, maxOccurs", (
        AREA, structure(dimension("ID", text()), attribute("A", coded("AREA"), occurs='minOccurs="2" maxOccurs="3"'))), (
            ({"ID": "1", "A": ["AT", "DE"]}, []), ({"ID": "2", "A": ["AT", "XX", "YY"]}, ["code-unknown A XX"]),
            ({"ID": "3", "A": ["AT"]}, ["occurrences A AT"]), ({"ID": "4", "A": None}, []),
            ({"ID": "5", "A": ["AT", "DE", "EU", "US"]}, ["occurrences A AT;DE;EU;US"]))),
    Case("one value in a column of texts", "SDMX 3.0 Section 2, minOccurs", (
        AREA, structure(dimension("ID", text()), attribute("A", coded("AREA"), occurs='minOccurs="2" maxOccurs="3"'))), (
            ({"ID": "1", "A": "AT"}, ["occurrences A AT"]), ({"ID": "2", "A": None}, []))),
    Case("several values where one is allowed", "SDMX 3.0 Section 2, maxOccurs", (
        AREA, structure(dimension("ID", text()), attribute("A", coded("AREA")))), (
            ({"ID": "1", "A": ["AT"]}, []), ({"ID": "2", "A": ["AT", "DE"]}, ["occurrences A AT;DE"]))),
    Case("no value among several", "SDMX 3.0 Section 2, minOccurs", (
        structure(dimension("ID", text()), attribute("A", text(), "", "mandatory", 'maxOccurs="3"')),), (
            ({"ID": "1", "A": ["a", None]}, []), ({"ID": "2", "A": [None]}, ["attribute-missing A"]),
            ({"ID": "3", "A": []}, ["attribute-missing A"]), ({"ID": "4", "A": None}, ["attribute-missing A"]))),
    Case("several values of a series", "SDMX 3.0 Section 2, Attribute relationship", (
        structure(D_SEX, time(), attribute("A", text(), "SEX", "mandatory", 'maxOccurs="3"')),), (
            ({"SEX": "F", "TIME_PERIOD": "2020", "A": ["a", "b"]}, []), ({"SEX": "F", "TIME_PERIOD": "2021", "A": ["b", "a"]}, []),
            ({"SEX": "F", "TIME_PERIOD": "2022", "A": []}, []),
            ({"SEX": "M", "TIME_PERIOD": "2020", "A": ["b", "a"]}, ["attribute-differs A a;b"]),
            ({"SEX": "M", "TIME_PERIOD": "2021", "A": ["a"]}, ["attribute-differs A a"]),
            ({"SEX": "X", "TIME_PERIOD": "2020", "A": []}, ["attribute-missing A"]))),
    Case("several values of the data set", "SDMX 3.0 Section 2, Attribute relationship", (
        structure(D_SEX, attribute("A", text(), "DATASET", "mandatory", 'maxOccurs="3"')),), (
            ({"SEX": "F", "A": ["a", "b"]}, []), ({"SEX": "M", "A": ["a"]}, [])), dataset=("error attribute-differs A a, a;b",)),
    Case("a component without a column counts as empty", "SDMX 2.1 Section 2, Keys", (
        structure(D_SEX, time(), dimension("ID", text()), attribute("A", text(), "SEX")),), (
            ({"ID": "1", "TIME_PERIOD": "2020", "A": "a"}, ["dimension-missing SEX", "duplicate-key .1.2020", "attribute-differs A a"]),
            ({"ID": "1", "TIME_PERIOD": "2020", "A": None}, ["dimension-missing SEX", "duplicate-key .1.2020"]),
            ({"ID": "2", "TIME_PERIOD": "2020", "A": "b"}, ["dimension-missing SEX", "attribute-differs A b"])),
        dataset=("error column-missing SEX",)),
    Case("no column is known", "SDMX 2.1 Section 2, Keys", (ONE,), (
        ({"id": "1"}, ["dimension-missing ID", "duplicate-key"]), ({"id": "2"}, ["dimension-missing ID", "duplicate-key"])),
        dataset=("error column-missing ID", "warning column-unknown id")),
    Case("names that languages use", "SDMX 3.0 Section 2, Identifiers", (
        structure(dimension("self", text("Integer")), dimension("value", text()), dimension("rule", text())),), (
            ({"self": "1", "value": "x", "rule": "y"}, []), ({"self": "a", "value": "x", "rule": "y"}, ["text-type self a"]))),
]  # fmt: skip

TIMES = [
    Case("week 53 and day 366 where the year has them", f"{TIME}; ISO 8601", (structure(time(), measure()),), tuple(
        ({"TIME_PERIOD": period}, []) for period in ("2020-W53", "2015-W53", "2026-W53", "2024-D366", "2000-D366", "2021-W52")
    ) + tuple(
        ({"TIME_PERIOD": period}, [f"calendar TIME_PERIOD {period}"])
        for period in ("2021-W53", "2024-W53", "2023-D366", "1900-D366", "2021-W53Z"))),
    Case("reporting years that begin elsewhere are not judged by the calendar", TIME, (
        structure(time(), attribute("REPORTING_YEAR_START_DAY", text("MonthDay")), measure()),), (
            ({"TIME_PERIOD": "2021-W53", "REPORTING_YEAR_START_DAY": "--07-01"}, []),
            ({"TIME_PERIOD": "2022-W53", "REPORTING_YEAR_START_DAY": "--01-01"}, ["calendar TIME_PERIOD 2022-W53"]))),
    Case("reporting years that begin elsewhere are not compared with times", TIME, (
        structure(time(text("ObservationalTimePeriod", startTime="2010-10-01")),
                  attribute("REPORTING_YEAR_START_DAY", text("MonthDay")), measure()),
        constraint(region('<s:KeyValue id="TIME_PERIOD"><s:TimeRange><s:AfterPeriod isInclusive="true">2010-10-01'
                          '</s:AfterPeriod></s:TimeRange></s:KeyValue>'))), (
            ({"TIME_PERIOD": "2010-Q2", "REPORTING_YEAR_START_DAY": "--07-01"}, []),
            ({"TIME_PERIOD": "2010-09", "REPORTING_YEAR_START_DAY": "--07-01"},
             ["range TIME_PERIOD 2010-09", "value-not-allowed TIME_PERIOD 2010-09"]),
            ({"TIME_PERIOD": "2010-Q3", "REPORTING_YEAR_START_DAY": "--01-01"},
             ["range TIME_PERIOD 2010-Q3", "value-not-allowed TIME_PERIOD 2010-Q3"]),
            ({"TIME_PERIOD": "2010-Q4", "REPORTING_YEAR_START_DAY": None}, []))),
    Case("no period, no other finding", TIME, (FREQ, structure(dimension("FREQ", coded("FREQ")), time())), (
        ({"FREQ": "A", "TIME_PERIOD": "2020-13"}, ["time-period TIME_PERIOD 2020-13"]),
        ({"FREQ": "A", "TIME_PERIOD": ""}, ["time-period TIME_PERIOD"]),
        ({"FREQ": "A", "TIME_PERIOD": None}, ["dimension-missing TIME_PERIOD"]))),
    Case("periods as their frequency asks", "SDMX 3.0 Section 6, Frequencies; FMR REG-201-151", (
        FREQ, structure(dimension("FREQ", coded("FREQ")), time())), tuple(
        ({"FREQ": freq, "TIME_PERIOD": period}, []) for freq, period in (
            ("A", "2020"), ("A", "2020-A1"), ("A5", "2021"), ("S", "2020-S2"), ("T", "2020-T3"), ("Q", "2020-Q4"),
            ("M", "2020-12"), ("M", "2020-M11"), ("W", "2020-W53"), ("D", "2020-02-29"), ("B", "2020-D060"),
            ("H", "2020-01-01T05:00:00"), ("H", "2020-S1"), ("I", "2020-01-01T05:00:01"), ("_Z", "2020-Q1"),
            ("A", "2020-01-01/P1Y"))
    ) + tuple(
        ({"FREQ": freq, "TIME_PERIOD": period}, [f"frequency TIME_PERIOD {period}"]) for freq, period in (
            ("A", "2020-Q1"), ("A", "2020-01"), ("Q", "2020"), ("M", "2020-Q1"), ("W", "2020-01-01"), ("D", "2020"),
            ("A5", "2020-01-01"), ("I", "2020-01-01"))
    )),
]  # fmt: skip

F_AREA = structure(D_AREA, D_SEX, time(), attribute("NOTE", text()), measure())
YEAR = {"SEX": "F", "TIME_PERIOD": "2020"}
FLAGGED = structure(D_AREA, D_SEX, time(), attribute("FLAGS", coded("AREA"), occurs='maxOccurs="unbounded"'),
                    attribute("MORE", coded("AREA"), occurs='maxOccurs="unbounded"'), measure())  # fmt: skip
CONSTRAINED = [
    Case("any of several values must be in a region that is in", SEVERAL, (
        AREA, FLAGGED, constraint(region(selected("AREA", "AT"), selected("FLAGS", "US", kind="Component"))
                                  + region(selected("AREA", "US"), selected("FLAGS", "EU", kind="Component")))), (
            ({"AREA": "AT", **YEAR, "FLAGS": ["US"]}, []), ({"AREA": "AT", **YEAR, "FLAGS": ["DE", "US"]}, []),
            ({"AREA": "US", **YEAR, "FLAGS": ["US", "EU"]}, []), ({"AREA": "US", **YEAR, "FLAGS": ["#N/A"]}, []),
            ({"AREA": "US", **YEAR, "FLAGS": ["US", "DE"]}, ["region-not-allowed US.US"]),
            ({"AREA": "AT", "SEX": "F", "TIME_PERIOD": "2021", "FLAGS": None}, []),
            ({"AREA": "DE", **YEAR, "FLAGS": None}, ["region-not-allowed DE."])), settings={"rules": {"duplicate-key": "off"}}),
    Case("none of several values may be in a region that is out", CONSTRAINTS, (
        AREA, FLAGGED, constraint(region(selected("FLAGS", "AT", kind="Component"), selected("MORE", "US", "EU", kind="Component"), include="false"))), (
            ({"AREA": "AT", **YEAR, "FLAGS": ["DE"], "MORE": ["US"]}, []), ({"AREA": "DE", **YEAR, "FLAGS": ["AT"], "MORE": []}, []),
            ({"AREA": "US", **YEAR, "FLAGS": ["DE", "AT"], "MORE": ["W", "EU", "US"]}, ["region-not-allowed AT.EU"]))),
    Case("any of several values must be valid at its time", SEVERAL, (
        AREA, FLAGGED, constraint(region(selected("FLAGS", "US@2010/2015", "EU", kind="Component")))), (
            ({"AREA": "AT", **YEAR, "FLAGS": ["US", "EU"]}, []), ({"AREA": "US", **YEAR, "FLAGS": ["DE", "US"]}, ["value-not-valid FLAGS US"]),
            ({"AREA": "US", "SEX": "F", "TIME_PERIOD": "2012", "FLAGS": ["DE", "US"]}, []),
            ({"AREA": "W", **YEAR, "FLAGS": ["#N/A", "DE", "AT"]}, ["value-not-allowed FLAGS DE"]),
            ({"AREA": "EU", **YEAR, "FLAGS": ["EU", "DE"]}, []))),
    Case("an included value and an excluded one among several", SEVERAL, (
        AREA, FLAGGED, constraint(region(selected("FLAGS", "US", kind="Component"),
                                         selected("MORE", "US", kind="Component", more='include="false"')))), (
            ({"AREA": "AT", **YEAR, "FLAGS": ["DE", "US"], "MORE": ["DE", "EU"]}, []),
            ({"AREA": "DE", **YEAR, "FLAGS": ["DE", "EU"], "MORE": ["DE", "US"]},
             ["value-not-allowed FLAGS DE", "value-not-allowed MORE US"]))),
    Case("a range of time and patterns for several values", SEVERAL, (
        structure(D_SEX, attribute("AT", text("ObservationalTimePeriod"), occurs='maxOccurs="3"'),
                  attribute("NOTE", text(), occurs='maxOccurs="3"')),
        constraint(region(
            '<s:Component id="AT"><s:TimeRange><s:StartPeriod>2010</s:StartPeriod><s:EndPeriod>2012</s:EndPeriod>'
            '</s:TimeRange></s:Component>', selected("NOTE", "a%", "x", kind="Component")))), (
            ({"SEX": "A", "AT": ["2009", "2011"], "NOTE": ["b", "x"]}, []), ({"SEX": "B", "AT": ["2009"], "NOTE": ["ab"]}, ["value-not-allowed AT 2009"]),
            ({"SEX": "C", "AT": ["2009", "2013"], "NOTE": ["b", "c"]}, ["value-not-allowed AT 2009", "value-not-allowed NOTE b"]))),
    Case("a region that is in", CONSTRAINTS, (
        AREA, F_AREA, constraint(region(selected("AREA", "AT", "US"), selected("SEX", "F")))), (
            ({"AREA": "AT", **YEAR}, []), ({"AREA": "DE", **YEAR}, ["value-not-allowed AREA DE"]),
            ({"AREA": "DE", "SEX": "M", "TIME_PERIOD": "2020"},
             ["value-not-allowed AREA DE", "value-not-allowed SEX M"]),
            ({"AREA": "XX", **YEAR}, ["code-unknown AREA XX", "value-not-allowed AREA XX"]))),
    Case("cascades with and without the root", CONSTRAINTS, (
        AREA, F_AREA, constraint(region(selected("AREA", "EU-")))), (
            ({"AREA": "AT", **YEAR}, []), ({"AREA": "W", **YEAR}, []), ({"AREA": "EU", **YEAR}, ["value-not-allowed AREA EU"]),
            ({"AREA": "US", **YEAR}, ["value-not-allowed AREA US"]))),
    Case("values that are out", CONSTRAINTS, (
        AREA, F_AREA, constraint(region(selected("AREA", "AT+", more='include="false"')))), (
            ({"AREA": "DE", **YEAR}, []), ({"AREA": "W", **YEAR}, ["value-not-allowed AREA W"]))),
    Case("wildcards", CONSTRAINTS, (AREA, F_AREA, constraint(region(selected("AREA", "%U%"), selected("SEX", "F%")))), (
        ({"AREA": "US", **YEAR}, []), ({"AREA": "EU", "SEX": "F9", "TIME_PERIOD": "2020"}, []),
        ({"AREA": "AT", **YEAR}, ["value-not-allowed AREA AT"]),
        ({"AREA": "US", "SEX": "M", "TIME_PERIOD": "2020"}, ["value-not-allowed SEX M"]))),
    Case("one of several regions", CONSTRAINTS, (AREA, F_AREA, constraint(
        region(selected("AREA", "AT"), selected("SEX", "F")) + region(selected("AREA", "US"), selected("SEX", "M")))), (
            ({"AREA": "AT", **YEAR}, []), ({"AREA": "US", **YEAR}, ["region-not-allowed US.F"]))),
    Case("a region that is out", CONSTRAINTS, (AREA, F_AREA, constraint(
        region(selected("AREA", "AT"), selected("SEX", "F"), include="false"))), (
            ({"AREA": "US", **YEAR}, []), ({"AREA": "AT", **YEAR}, ["region-not-allowed AT.F"]),
            ({"AREA": "AT", "SEX": "M", "TIME_PERIOD": "2020"}, []))),
    Case("attributes in a region; none is not a wrong one", CONSTRAINTS, (AREA, F_AREA, constraint(
        region(selected("NOTE", "x", kind="Component")))), (
            ({"AREA": "US", **YEAR, "NOTE": "x"}, []), ({"AREA": "AT", **YEAR, "NOTE": None}, []),
            ({"AREA": "DE", **YEAR, "NOTE": "y"}, ["value-not-allowed NOTE y"]))),
    Case("keys that are in, partial ones too", CONSTRAINTS, (AREA, F_AREA, constraint(
        keys({"AREA": "AT", "SEX": "F"}, {"SEX": "X"}))), (
            ({"AREA": "AT", **YEAR}, []), ({"AREA": "US", "SEX": "X", "TIME_PERIOD": "2020"}, []),
            ({"AREA": "US", **YEAR}, ["key-not-allowed US.F"]))),
    Case("keys that are out, wildcards in them", CONSTRAINTS, (AREA, F_AREA, constraint(
        keys({"AREA": "AT", "SEX": "%"}, {"AREA": "US", "SEX": "F"}, included="false"))), (
            ({"AREA": "DE", **YEAR}, []), ({"AREA": "AT", **YEAR}, ["key-not-allowed AT.F"]),
            ({"AREA": "US", **YEAR}, ["key-not-allowed US.F"]))),
    Case("key sets in their order", "SDMX 3.0 Section 6, Key Set", (AREA, F_AREA, constraint(
        keys({"SEX": "F"}, included="false") + keys({"AREA": "AT", "SEX": "F"}) + keys({"AREA": "AT"}, included="false")
        + keys({"AREA": "DE"}))), (
            ({"AREA": "US", "SEX": "M", "TIME_PERIOD": "2020"}, []), ({"AREA": "US", **YEAR}, ["key-not-allowed US.F"]),
            ({"AREA": "AT", **YEAR}, ["key-not-allowed AT.F"]), ({"AREA": "DE", **YEAR}, []))),
    Case("a specific key after a wildcard that is out", "SDMX 3.0 Section 6, Key Set", (AREA, F_AREA, constraint(
        keys({"SEX": "F"}, included="false") + keys({"AREA": "AT", "SEX": "F"}))), (
            ({"AREA": "AT", **YEAR}, []), ({"AREA": "US", **YEAR}, ["key-not-allowed US.F"]),
            ({"AREA": "US", "SEX": "M", "TIME_PERIOD": "2020"}, []))),
    Case("what is out with a component that is none is left alone", CONSTRAINTS, (AREA, F_AREA, constraint(
        keys({"AREA": "AT", "FOO": "X"}, {"AREA": "US", "FOO": "%"}, {"AREA": "DE"}, included="false")
        + region(selected("AREA", "EU"), selected("FOO", "X"), include="false"))), (
            *(({"AREA": area, **YEAR}, []) for area in ("AT", "US", "EU", "W")),
            ({"AREA": "DE", **YEAR}, ["key-not-allowed DE.F"]))),
    Case("dataflow, provider and agreement narrow together", CONSTRAINTS, (
        AREA, F_AREA, FLOWS, constraint(region(selected("AREA", "EU+")), id_="C1"),
        constraint(region(selected("AREA", "AT", "DE")), "Dataflow", "C2"),
        constraint(region(selected("SEX", "F", "M")), "DataProvider", "C3"),
        constraint(region(selected("SEX", "F", "X")), "ProvisionAgreement", "C4")), (
            ({"AREA": "AT", **YEAR}, []), ({"AREA": "EU", **YEAR}, ["value-not-allowed AREA EU"]),
            ({"AREA": "US", **YEAR}, ["value-not-allowed AREA US"] * 2),
            ({"AREA": "AT", "SEX": "M", "TIME_PERIOD": "2020"}, ["value-not-allowed SEX M"]),
            ({"AREA": "AT", "SEX": "X", "TIME_PERIOD": "2020"}, ["value-not-allowed SEX X"])), PA),
    Case("a dataflow has not its provider's constraints", CONSTRAINTS, (
        AREA, F_AREA, FLOWS, constraint(region(selected("SEX", "M")), "DataProvider"),
        constraint(region(selected("AREA", "AT")), "Dataflow", "C2")), (
            ({"AREA": "AT", **YEAR}, []), ({"AREA": "US", **YEAR}, ["value-not-allowed AREA US"])), FLOW),
    Case("of several versions of a constraint the latest that is not a draft", "SDMX 3.1 Section 6, Multiple Constraints", (
        AREA, F_AREA, constraint(region(selected("AREA", "AT", "DE"))),
        constraint(region(selected("AREA", "AT", "US")), version="2.0"),
        constraint(region(selected("AREA", "W")), version="3.0.0-draft")), (
            ({"AREA": "AT", **YEAR}, []), ({"AREA": "US", **YEAR}, []),
            ({"AREA": "DE", **YEAR}, ["value-not-allowed AREA DE"]))),
    Case("what data there is, is not a rule", CONSTRAINTS, (
        AREA, F_AREA, constraint(region(selected("AREA", "AT")), role="Actual")), (({"AREA": "US", **YEAR}, []),)),
    Case("a constraint of another time", CONSTRAINTS, (
        AREA, F_AREA, constraint(region(selected("AREA", "AT")), more='validTo="2019-12-31T00:00:00"')),
        (({"AREA": "US", **YEAR}, []),)),
    Case("codes valid at the time of the observation", "FMR FR_VALIDITY_PERIOD, REG-201-007", (
        codelist("AREA", ["A@2010-01-01T00:00:00+0000/2015-12-31T23:59:59+0000", "B@2016/", "C@/2012-06", "D", "E@/"]),
        FLAGGED), (
            ({"AREA": "A", "SEX": "F", "TIME_PERIOD": "2015-12", "FLAGS": ["D", "E"]}, []),
            ({"AREA": "A", "SEX": "F", "TIME_PERIOD": "2016", "FLAGS": None}, ["value-not-valid AREA A"]),
            ({"AREA": "B", "SEX": "F", "TIME_PERIOD": "2015-12-31", "FLAGS": None}, ["value-not-valid AREA B"]),
            ({"AREA": "B", "SEX": "F", "TIME_PERIOD": "2016-01", "FLAGS": ["B"]}, []),
            ({"AREA": "C", "SEX": "F", "TIME_PERIOD": "2012-06-30", "FLAGS": None}, []),
            ({"AREA": "C", "SEX": "F", "TIME_PERIOD": "2012-07", "FLAGS": None}, ["value-not-valid AREA C"]),
            ({"AREA": "D", "SEX": "F", "TIME_PERIOD": "1900", "FLAGS": ["D", "C"]}, []),
            ({"AREA": "E", "SEX": "F", "TIME_PERIOD": "2020", "FLAGS": ["C", "D"]}, ["value-not-valid FLAGS C"]))),
    Case("bounds of numbers of any length", "XML Schema Part 2, integer and decimal: of any length", (
        AREA, structure(D_AREA, measure(), attribute("N", text("BigInteger", minValue=f"-{10**40}", maxValue=f"{10**40 + 1}")),
                        attribute("X", text("Decimal", maxValue="0.1234567890123456789012345")))), (
            ({"AREA": "AT", "N": f"{10**40 + 1}", "X": "0.12345678901234567890123450"}, []),
            ({"AREA": "DE", "N": f"-0{10**40}", "X": "-1"}, []),
            ({"AREA": "US", "N": f"{10**40 + 2}", "X": None}, [f"range N {10**40 + 2}"]),
            ({"AREA": "EU", "N": f"-{10**40 + 1}", "X": None}, [f"range N -{10**40 + 1}"]),
            ({"AREA": "W", "N": f"{10**400}", "X": "0.1234567890123456789012346"},
             [f"range N {10**400}", "range X 0.1234567890123456789012346"]))),
    Case("codes valid on a date, in a structure without time", "FMR FR_VALIDITY_PERIOD", (
        codelist("AREA", ["A@/2015", "B@2016/"]), structure(D_AREA, measure())), (
            ({"AREA": "A"}, ["value-not-valid AREA A"]), ({"AREA": "B"}, []))),
    Case("values valid at the time of the observation", "SDMX 3.0 Section 6, Constraints; FMR REG-201-007", (
        AREA, F_AREA, constraint(region(selected("AREA", "AT@2010/2015", "DE")))), (
            ({"AREA": "AT", "SEX": "F", "TIME_PERIOD": "2015-12"}, []), ({"AREA": "DE", **YEAR}, []),
            ({"AREA": "AT", **YEAR}, ["value-not-valid AREA AT"]), ({"AREA": "US", **YEAR}, ["value-not-allowed AREA US"]))),
    Case("a range of time", CONSTRAINTS, (AREA, F_AREA, constraint(region(
        '<s:KeyValue id="TIME_PERIOD"><s:TimeRange><s:StartPeriod isInclusive="true">2010</s:StartPeriod>'
        '<s:EndPeriod isInclusive="false">2020-06</s:EndPeriod></s:TimeRange></s:KeyValue>'))), (
            ({"AREA": "AT", "SEX": "F", "TIME_PERIOD": "2010-01"}, []),
            ({"AREA": "AT", "SEX": "F", "TIME_PERIOD": "2020-W01"}, []),
            ({"AREA": "AT", "SEX": "F", "TIME_PERIOD": "2020-06-01"}, ["value-not-allowed TIME_PERIOD 2020-06-01"]),
            ({"AREA": "AT", "SEX": "F", "TIME_PERIOD": "2009-Q4"}, ["value-not-allowed TIME_PERIOD 2009-Q4"]))),
    Case("prefixes of extended lists taken off", "SDMX 3.0 Section 6, removePrefix", (
        AREA, codelist("MORE", ["OWN"], extension("AREA", "X_")),
        structure(dimension("AREA", coded("MORE")), D_SEX, time(), measure()),
        constraint(region(selected("AREA", "X_AT", "OWN", more='removePrefix="true"')))), (
            ({"AREA": "AT", **YEAR}, []), ({"AREA": "OWN", **YEAR}, []),
            ({"AREA": "X_AT", **YEAR}, ["value-not-allowed AREA X_AT"]),
            ({"AREA": "US", **YEAR}, ["code-unknown AREA US", "value-not-allowed AREA US"]))),
    Case("own codes that begin like a prefix keep it", "SDMX 3.0 Section 6, removePrefix", (
        AREA, codelist("MORE", ["EU9", "EAT"], extension("AREA", "E")),
        structure(dimension("AREA", coded("MORE")), D_SEX, time(), measure()),
        constraint(region(selected("AREA", "EU9", "EAT", "EUS", more='removePrefix="true"')))), (
            ({"AREA": "EU9", **YEAR}, []), ({"AREA": "EAT", **YEAR}, []), ({"AREA": "US", **YEAR}, []),
            ({"AREA": "U9", **YEAR}, ["code-unknown AREA U9", "value-not-allowed AREA U9"]),
            ({"AREA": "AT", **YEAR}, ["code-unknown AREA AT", "value-not-allowed AREA AT"]))),
]  # fmt: skip

LEVELS = structure(
    D_AREA, D_SEX, time(), group("SIBLING", "AREA"),
    attribute("UNIT", text(), "AREA,SEX", "mandatory"), attribute("TITLE", text(), "GROUP:SIBLING"),
    attribute("SOURCE", text(), "DATASET", "mandatory"), attribute("STATUS", text(), usage="mandatory"),
    measure(usage="mandatory"),
)  # fmt: skip
TWO_MEASURES = structure(
    D_SEX, time(), described(attribute("CONF", text(), usage="mandatory")),
    described(attribute("UNIT", text(), "SEX", "mandatory")), measure("M1"), measure("M2"))  # fmt: skip
FULL = {"AREA": "AT", "SEX": "F", "UNIT": "U", "TITLE": "t", "SOURCE": "s", "STATUS": "A", "OBS_VALUE": "1"}
TOGETHER = [
    Case("attributes by their level", "SDMX 3.0 Section 2, Attribute relationship; FMR REG-201-051", (AREA, LEVELS), (
        ({**FULL, "TIME_PERIOD": "2020"}, []), ({**FULL, "TIME_PERIOD": "2021", "UNIT": None, "TITLE": None, "SOURCE": None}, []),
        ({**FULL, "TIME_PERIOD": "2022", "STATUS": None}, ["attribute-missing STATUS"]),
        ({**FULL, "TIME_PERIOD": "2023", "OBS_VALUE": None}, ["measure-missing OBS_VALUE"]),
        ({**FULL, "TIME_PERIOD": "2020", "SEX": "M", "UNIT": None}, ["attribute-missing UNIT"]),
        ({**FULL, "TIME_PERIOD": "2021", "SEX": "M", "UNIT": None}, ["attribute-missing UNIT"]))),
    Case("attributes that differ in their series or group", "SDMX 3.0 Section 2, Attribute relationship", (AREA, LEVELS), (
        ({**FULL, "TIME_PERIOD": "2020"}, ["attribute-differs UNIT U"]),
        ({**FULL, "TIME_PERIOD": "2021", "UNIT": "V"}, ["attribute-differs UNIT V"]),
        ({**FULL, "TIME_PERIOD": "2022", "UNIT": None}, []),
        ({**FULL, "AREA": "US", "TIME_PERIOD": "2020"}, ["attribute-differs TITLE t"]),
        ({**FULL, "AREA": "US", "TIME_PERIOD": "2020", "SEX": "M", "TITLE": "u"}, ["attribute-differs TITLE u"]))),
    Case("attributes that differ are shown as they are", "practice", (AREA, LEVELS), (
        ({**FULL, "TIME_PERIOD": "2020", "UNIT": "a\x1fb"}, ["attribute-differs UNIT a\x1fb"]),
        ({**FULL, "TIME_PERIOD": "2021", "UNIT": "a;b"}, ["attribute-differs UNIT a;b"]))),
    Case("attributes of the data set are told apart", "SDMX 3.0 Section 2, Attribute relationship", (AREA, LEVELS), (
        ({**FULL, "TIME_PERIOD": "2020"}, []), ({**FULL, "TIME_PERIOD": "2021", "SOURCE": "r"}, [])),
        dataset=("error attribute-differs SOURCE r, s",)),
    Case("attributes of groups of which no dimensions are known", "SDMXStructureDataStructure.xsd 2.1, GroupType", (
        AREA, structure(D_AREA, D_SEX, time(), attribute("TITLE", text(), "GROUP:NONE", "mandatory"), measure())), (
            ({"AREA": "AT", **YEAR, "TITLE": "t"}, []), ({"AREA": "US", **YEAR, "TITLE": "u"}, []),
            ({"AREA": "DE", **YEAR, "TITLE": None}, []))),
    Case("attributes of one measure where only another is given", "SDMX 3.0 Section 2, MeasureRelationship", (
        TWO_MEASURES,), (
            ({"SEX": "A", "TIME_PERIOD": "2020", "M1": "1", "M2": "2"}, ["attribute-missing CONF", "attribute-missing UNIT"]),
            ({"SEX": "A", "TIME_PERIOD": "2021", "M1": None, "M2": "2"}, []),
            ({"SEX": "A", "TIME_PERIOD": "2022", "M1": None, "M2": None}, ["attribute-missing CONF", "attribute-missing UNIT"]),
            ({"SEX": "B", "TIME_PERIOD": "2020", "M1": None, "M2": "2", "UNIT": None}, []),
            ({"SEX": "C", "TIME_PERIOD": "2020", "M1": None, "M2": "2", "UNIT": "u"}, []),
            ({"SEX": "C", "TIME_PERIOD": "2021", "M1": "1", "M2": "2", "CONF": "x"}, []),
            ({"SEX": "D", "TIME_PERIOD": "2020", "M1": None, "M2": "2"}, []),
            ({"SEX": "D", "TIME_PERIOD": "2021", "M1": "1", "CONF": "x"}, ["attribute-missing UNIT"]))),
    Case("no column of an attribute whose measure has none", "SDMX 3.0 Section 2, MeasureRelationship", (TWO_MEASURES,), (
        ({"SEX": "A", "TIME_PERIOD": "2020", "M2": "2"}, []),)),
    Case("no attribute of the data set at all", "SDMX 3.0 Section 2, Attribute relationship", (AREA, LEVELS), (
        ({**FULL, "TIME_PERIOD": "2020", "SOURCE": None}, []),), dataset=("error attribute-missing SOURCE",)),
    Case("keys that come twice", "SDMX 3.0 Section 2, Data set", (AREA, F_AREA), (
        ({"AREA": "AT", **YEAR, "OBS_VALUE": "1"}, ["duplicate-key AT.F.2020"]),
        ({"AREA": "AT", **YEAR, "OBS_VALUE": "2"}, ["duplicate-key AT.F.2020"]), ({"AREA": "US", **YEAR}, []),
        ({"AREA": "AT", "SEX": None, "TIME_PERIOD": "2020"}, ["dimension-missing SEX", "duplicate-key AT..2020"]),
        ({"AREA": "AT", "SEX": None, "TIME_PERIOD": "2020"}, ["dimension-missing SEX", "duplicate-key AT..2020"]))),
    Case("rules switched off, raised and lowered", "this guide", (AREA, F_AREA), (
        ({"AREA": "AT", **YEAR, "OBS_VALUE": "1d"}, []), ({"AREA": "AT", **YEAR}, [])),
        settings={"rules": {"duplicate-key": "off", "text-type": "off"}}),
]  # fmt: skip

ACTED = [
    Case("merge may leave values out, not dimensions", CSV, (AREA, LEVELS), (
        ({"ACTION": "M", "AREA": "AT", "SEX": "F", "TIME_PERIOD": "2020", "OBS_VALUE": "1"}, []),
        ({"ACTION": "M", "AREA": "AT", "SEX": None, "TIME_PERIOD": "2021", "OBS_VALUE": "1"}, ["dimension-missing SEX"]),
        ({"ACTION": "M", "AREA": "AT", "SEX": "F", "TIME_PERIOD": "2022"}, ["action-empty ACTION M"]))),
    Case("a row that must be complete needs all columns", CSV, (AREA, LEVELS), (
        ({"ACTION": "M", "AREA": "AT", "TIME_PERIOD": "2020", "OBS_VALUE": "1"}, ["dimension-missing SEX"]),
        ({"ACTION": "R", "AREA": "AT", "TIME_PERIOD": "2021", "OBS_VALUE": "1"},
         ["dimension-missing SEX", "attribute-missing STATUS", "attribute-missing UNIT"])),
        dataset=tuple(f"error column-missing {id_}" for id_ in ("SEX", "UNIT", "SOURCE", "STATUS"))),
    Case("no row needs the column of a dimension if all are deletions", CSV, (AREA, LEVELS), (
        ({"AREA": "AT"}, []),), settings={"action": "delete"}),
    Case("deletions by a column that is unknown", CSV, (AREA, LEVELS), (
        ({"ACTION": "D", "AREA": "AT", "TYPO": "x"}, ["deletion-wide TYPO x"]),
        ({"ACTION": "delete", "TYPO": "x"}, ["deletion-wide TYPO x"]), ({"ACTION": "D", "AREA": "AT", "TYPO": None}, [])),
        dataset=("warning column-unknown TYPO",)),
    Case("deletions of a dataflow's data by rules of the data structure", CSV, (AREA, LEVELS), (
        ({"STRUCTURE": "dataflow", "ACTION": "D", "AREA": "AT", "SEX": "F", "TIME_PERIOD": None}, ["deletion-wide ACTION D"]),
        ({"STRUCTURE": "dataprovision", "ACTION": "D", "AREA": None, "SEX": None, "TIME_PERIOD": None},
         ["deletion-wide ACTION D"]),
        ({"STRUCTURE": "dataflow", "ACTION": "D", "AREA": "AT", "SEX": "F", "TIME_PERIOD": "2020"}, []),
        ({"STRUCTURE": "datastructure", "ACTION": "D", "AREA": None, "SEX": None, "TIME_PERIOD": None}, []),
        ({"STRUCTURE": "DataFlow", "ACTION": "D", "AREA": "AT", "SEX": "F", "TIME_PERIOD": None}, ["deletion-wide ACTION D"]),
        ({"STRUCTURE": "DataStructure", "ACTION": "D", "AREA": None, "SEX": None, "TIME_PERIOD": None}, []))),
    Case("deletions of a dataflow's data in files of 1.0", "SDMX-CSV 1.0: DATAFLOW", (AREA, LEVELS), (
        ({"STRUCTURE": None, "DATAFLOW": "T:F(1.0)", "AREA": "AT", "SEX": "F", "TIME_PERIOD": None}, ["deletion-wide ACTION"]),
        ({"STRUCTURE": None, "DATAFLOW": "T:F(1.0)", "AREA": "AT", "SEX": "F", "TIME_PERIOD": "2020"}, []),
        ({"STRUCTURE": "datastructure", "DATAFLOW": None, "AREA": "AT", "SEX": "F", "TIME_PERIOD": None}, [])),
        settings={"action": "delete"}),
    Case("deletions of a dataflow's data by rules of the dataflow", "SDMX-CSV 1.0: DATAFLOW", (AREA, LEVELS, FLOWS), (
        ({"STRUCTURE": None, "DATAFLOW": "T:F(1.0)", "AREA": "AT", "SEX": "F", "TIME_PERIOD": None}, []),
        ({"STRUCTURE": "DATAFLOW", "DATAFLOW": None, "AREA": "AT", "SEX": "F", "TIME_PERIOD": None}, []),
        ({"STRUCTURE": "DATAPROVISION", "DATAFLOW": None, "AREA": "AT", "SEX": "F", "TIME_PERIOD": None},
         ["deletion-wide ACTION"])), reference=FLOW, settings={"action": "delete"}),
    Case("deletions whose series is only named by its key", "SDMX-CSV 2.0: SERIES_KEY, OBS_KEY", (AREA, LEVELS), (
        ({"ACTION": "D", "SERIES_KEY": "AT.F", "AREA": None, "SEX": None}, ["deletion-wide SERIES_KEY AT.F"]),
        ({"ACTION": "D", "SERIES_KEY": "AT.F", "AREA": "AT", "SEX": None}, ["deletion-wide SERIES_KEY AT.F"]),
        ({"ACTION": "D", "SERIES_KEY": "AT.F", "AREA": "AT", "SEX": "F"}, []),
        ({"ACTION": "D", "SERIES_KEY": "AT.", "AREA": "AT", "SEX": None}, []),
        ({"ACTION": "D", "SERIES_KEY": ".F", "AREA": None, "SEX": "F"}, []),
        ({"ACTION": "D", "SERIES_KEY": ".F", "AREA": "AT", "SEX": None}, ["deletion-wide SERIES_KEY .F"]),
        ({"ACTION": "D", "SERIES_KEY": None, "AREA": None, "SEX": None}, []),
        ({"ACTION": "M", "SERIES_KEY": "AT.F", "AREA": "AT", "SEX": "F", "TIME_PERIOD": "2020", "OBS_VALUE": "1"}, []),
        ({"ACTION": "D", "OBS_KEY": "AT.F.2020", "AREA": "AT", "SEX": "F", "TIME_PERIOD": None},
         ["deletion-wide OBS_KEY AT.F.2020"]),
        ({"ACTION": "D", "OBS_KEY": "AT.F.2020", "AREA": "AT", "SEX": "F", "TIME_PERIOD": "2020"}, []),
        ({"ACTION": "D", "OBS_KEY": "AT..2020", "AREA": "AT", "SEX": None, "TIME_PERIOD": "2020"}, []),
        ({"ACTION": "D", "OBS_KEY": "AT.F", "AREA": "AT", "SEX": "F", "TIME_PERIOD": None}, []))),
    Case("deletions with keys of fewer parts", "SDMX-CSV 2.0: SERIES_KEY, OBS_KEY", (AREA, LEVELS), (
        ({"ACTION": "D", "SERIES_KEY": "AT", "AREA": "AT", "SEX": None, "TIME_PERIOD": None}, []),
        ({"ACTION": "D", "SERIES_KEY": "", "AREA": "AT", "SEX": None, "TIME_PERIOD": None}, []),
        ({"ACTION": "D", "SERIES_KEY": "AT", "AREA": None, "SEX": "F", "TIME_PERIOD": None}, ["deletion-wide SERIES_KEY AT"]),
        ({"ACTION": "D", "SERIES_KEY": "AT.2020", "AREA": "AT", "SEX": None, "TIME_PERIOD": "2020"}, []),
        ({"ACTION": "D", "SERIES_KEY": "AT.F", "AREA": "AT", "SEX": None, "TIME_PERIOD": "2020"},
         ["deletion-wide SERIES_KEY AT.F"]),
        ({"ACTION": "D", "OBS_KEY": "F.2020", "AREA": None, "SEX": "F", "TIME_PERIOD": "2020"}, []),
        ({"ACTION": "D", "OBS_KEY": "AT.F.2020", "AREA": "AT", "SEX": None, "TIME_PERIOD": "2020"},
         ["deletion-wide OBS_KEY AT.F.2020"]))),
    Case("deletions by a column whose name is that of a component with an underscore", CSV, (AREA, LEVELS), (
        ({"ACTION": "D", "AREA": "AT", "SEX": None, "_SEX": "F", "_row": "1"}, ["deletion-wide _SEX F"]),
        ({"ACTION": "D", "AREA": "AT", "SEX": None, "_SEX": None, "_row": "1"}, []))),
    Case("deletions with a column of the sender that cannot make them wider", CSV, (AREA, LEVELS), (
        ({"ACTION": "D", "AREA": "AT", **YEAR, "OBS_VALUE": "-", "NOTE": "why"}, []),
        ({"ACTION": "D", "AREA": "AT", **YEAR, "OBS_VALUE": None, "NOTE": "why"}, ["deletion-wide NOTE why"]),
        ({"ACTION": "D", "AREA": "AT", "SEX": None, "TIME_PERIOD": "2020", "OBS_VALUE": "-", "NOTE": "why"},
         ["deletion-wide NOTE why"]))),
    Case("empty texts, which would be written as no value", CSV, (AREA, LEVELS), (
        ({"ACTION": "D", "AREA": "AT", "SEX": "", "TIME_PERIOD": "2020"}, ["text-type SEX", "deletion-wide"]),
        ({"ACTION": "D", "AREA": "AT", "SEX": "F", "TIME_PERIOD": "2020", "OBS_VALUE": ""}, ["deletion-wide"]),
        ({"ACTION": "D", "AREA": "AT", "SEX": "F", "TIME_PERIOD": "2020", "OBS_VALUE": "-"}, []),
        ({"ACTION": "D", "AREA": "AT", "SEX": "F", "TIME_PERIOD": "2020", "OBS_VALUE": "-", "TITLE": ""},
         ["deletion-wide"]),
        ({"ACTION": "M", "AREA": "AT", "SEX": "F", "TIME_PERIOD": "2020", "TITLE": ""}, []))),
    Case("lists with an empty text, which would be written as no value", CSV, (AREA, FLAGGED), (
        ({"ACTION": "D", "AREA": "AT", **YEAR, "FLAGS": [""]}, ["deletion-wide FLAGS"]),
        ({"ACTION": "D", "AREA": "AT", **YEAR, "FLAGS": ["", "x"]}, []), ({"ACTION": "D", "AREA": "AT", **YEAR, "FLAGS": []}, []))),
    Case("a row that merges needs the columns of dimensions", CSV, (AREA, LEVELS), (
        ({"AREA": "AT", "TIME_PERIOD": "2020", "OBS_VALUE": "1"}, ["dimension-missing SEX"]),),
        settings={"action": "merge"}, dataset=("error column-missing SEX",)),
    Case("a mandatory value of the data set may be in any row", CSV, (AREA, LEVELS), (
        ({"ACTION": "M", "AREA": "~", "SEX": "~", "TIME_PERIOD": "~", "SOURCE": "s"}, []),
        ({"ACTION": "R", **FULL, "TIME_PERIOD": "2020", "SOURCE": None}, []))),
    Case("delete may leave out anything, and its values need be none", CSV, (AREA, LEVELS), (
        ({"ACTION": "D", "AREA": None, "SEX": None, "TIME_PERIOD": None, "OBS_VALUE": "-"}, []),
        ({"ACTION": "D", "AREA": "XX", "SEX": None, "TIME_PERIOD": None}, ["code-unknown AREA XX"]),
        ({"ACTION": "Delete", "AREA": "XX", "SEX": None, "TIME_PERIOD": None}, ["code-unknown AREA XX"]))),
    Case("append may leave values out, not dimensions", "SDMX-CSV 2.0, Column content: the absence of a value does not "
        "imply deletion; 2.1: the merge action is assumed", (AREA, LEVELS), (
            ({"ACTION": "A", "AREA": "AT", "SEX": "F", "TIME_PERIOD": "2020", "OBS_VALUE": "1"}, []),
            ({"ACTION": "Append", "AREA": "AT", "SEX": "F", "TIME_PERIOD": "2021", "STATUS": "A"}, []),
            ({"ACTION": "A", "AREA": "AT", "SEX": None, "TIME_PERIOD": "2022", "OBS_VALUE": "1"}, ["dimension-missing SEX"]),
            ({"ACTION": "A", "AREA": "AT", "SEX": "F", "TIME_PERIOD": "2023"}, []))),
    Case("a row that is appended needs the columns of dimensions", CSV, (AREA, LEVELS), (
        ({"AREA": "AT", "TIME_PERIOD": "2020", "OBS_VALUE": "1"}, ["dimension-missing SEX"]),),
        settings={"action": "append"}, dataset=("error column-missing SEX",)),
    Case("replace carries whole observations", CSV, (AREA, LEVELS), (
        ({"ACTION": "R", **FULL, "TIME_PERIOD": "2020"}, []), ({"ACTION": "A", **FULL, "TIME_PERIOD": "2021"}, []),
        ({"ACTION": "R", **FULL, "TIME_PERIOD": "2022", "STATUS": None}, ["attribute-missing STATUS"]),
        ({"ACTION": "X", **FULL, "TIME_PERIOD": "2023"}, ["action-unknown ACTION X"]))),
    Case("a row deletes what another gives again", CSV, (AREA, F_AREA), (
        ({"ACTION": "D", "AREA": "AT", **YEAR}, []), ({"ACTION": "R", "AREA": "AT", **YEAR, "OBS_VALUE": "1"}, []))),
    Case("dimensions that are switched off", CSV, (AREA, LEVELS), (
        ({"ACTION": "M", "AREA": "AT", "SEX": "~", "TIME_PERIOD": "~", "TITLE": "t"}, []),
        ({"ACTION": "M", "AREA": "US", "SEX": "~", "TIME_PERIOD": "~", "UNIT": "U"}, ["switched-off SEX ~"]),
        ({"ACTION": "M", "AREA": "~", "SEX": "F", "TIME_PERIOD": "2020", "OBS_VALUE": "1"}, ["switched-off AREA ~"]))),
    Case("dimensions that are switched off where the action is that of rows without one", CSV, (AREA, LEVELS), (
        ({"AREA": "AT", "SEX": "~", "TIME_PERIOD": "~", "TITLE": "t"}, []),
        ({"AREA": "US", "SEX": "~", "TIME_PERIOD": "~", "UNIT": "U"}, ["switched-off SEX ~"])),
        settings={"action": "merge"}),
    Case("dimensions that are switched off in some rows, where others name an action", CSV, (AREA, LEVELS), (
        ({"ACTION": None, "AREA": "AT", "SEX": "~", "TIME_PERIOD": "~", "TITLE": "t"}, []),
        ({"ACTION": "A", "AREA": "US", "SEX": "~", "TIME_PERIOD": "~", "TITLE": "t"}, [])),
        settings={"action": "replace"}),
    Case("no dimension of a frame without actions is switched off", CSV, (AREA, structure(D_AREA, D_SEX, measure())), (
        ({"AREA": "AT", "SEX": "~", "OBS_VALUE": "1"}, ["text-type SEX ~"]),)),
    Case("constraints on dimensions that are not switched off", CSV, (
        AREA, LEVELS, constraint(region(selected("AREA", "AT"), selected("SEX", "F")))), (
            ({"ACTION": "M", "AREA": "AT", "SEX": "~", "TIME_PERIOD": "~", "TITLE": "t"}, []),
            ({"ACTION": "M", "AREA": "US", "SEX": "~", "TIME_PERIOD": "~", "TITLE": "t"}, ["value-not-allowed AREA US"]))),
    Case("constraints on several dimensions of which one is switched off", CSV, (
        AREA, LEVELS, constraint(keys({"AREA": "AT", "SEX": "F"}, {"AREA": "US", "SEX": "M"}))), (
            ({"ACTION": "M", "AREA": "DE", "SEX": "~", "TIME_PERIOD": "~", "TITLE": "t"}, []),
            ({"ACTION": "M", "AREA": "DE", "SEX": "F", "TIME_PERIOD": "~", "UNIT": "u"}, ["key-not-allowed DE.F"]))),
    Case("rows that are not about one observation have no key", CSV, (AREA, LEVELS), (
        ({"ACTION": "M", "AREA": "AT", "SEX": "~", "TIME_PERIOD": "~", "TITLE": "t"}, []),
        ({"ACTION": "M", "AREA": "AT", "SEX": "~", "TIME_PERIOD": "~", "TITLE": "t"}, []),
        *(({"ACTION": "M", "AREA": "US", **YEAR, "OBS_VALUE": "1"}, ["duplicate-key US.F.2020"]),) * 2)),
    Case("dimensions that an attribute may omit", CSV, (AREA, structure(
        D_AREA, D_SEX, time(), group("SIBLING", "AREA"), attribute("TITLE", text(), "GROUP:SIBLING"),
        attribute("NOTE", text(), "AREA,SEX?"))), (
            ({"ACTION": "M", "AREA": "AT", "SEX": "~", "TIME_PERIOD": "~", "NOTE": "n"}, []),
            ({"ACTION": "M", "AREA": "~", "SEX": "F", "TIME_PERIOD": "~", "NOTE": "n"}, ["switched-off AREA ~"]),
            ({"ACTION": "M", "AREA": "~", "SEX": "M", "TIME_PERIOD": "~", "TITLE": "t"}, ["switched-off AREA ~"]))),
    Case("values that are meant to be missing", "SDMX 3.0 Section 6, Intentionally missing values", (AREA, LEVELS), (
        ({**FULL, "TIME_PERIOD": "2020", "STATUS": "#N/A", "OBS_VALUE": "NaN"}, []),
        ({**FULL, "TIME_PERIOD": "2021", "OBS_VALUE": "#N/A"}, ["text-type OBS_VALUE #N/A"]),
        ({**FULL, "TIME_PERIOD": "2022", "AREA": "#N/A"}, ["code-unknown AREA #N/A"]))),
    Case("an action for rows that name none", CSV, (AREA, F_AREA), (
        ({"AREA": None, "SEX": None, "TIME_PERIOD": "2020", "OBS_VALUE": "-"}, []),), settings={"action": "delete"}),
    Case("columns that are none", "SDMX-CSV 2.0", (AREA, F_AREA), (
        ({"STRUCTURE": "dataflow", "STRUCTURE_ID": "x", "AREA": "AT", **YEAR, "OTHER": "1", "_mine": "2"}, []),),
        dataset=("warning column-unknown OTHER",)),
]  # fmt: skip

CASES = [*REPRESENTATION, *TIMES, *CONSTRAINED, *TOGETHER, *ACTED]
