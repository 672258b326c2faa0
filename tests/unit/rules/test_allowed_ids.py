"""Allowed ids of components compared with validation: an id is allowed if some row with it breaks no constraint."""

from __future__ import annotations

import pickle
from datetime import date
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_replica.data.polars import validate
from kafka_replica.data.validation import Rules
from kafka_replica.data.validation.evaluation import evaluate_condition
from kafka_replica.errors import UsageError
from kafka_replica.sdmx import ResolvedStructure, Structures
from support.effort import examples
from support.rules.structures_by_hand import (
    AGREEMENT,
    DSD,
    FLOW,
    FLOWS,
    attribute,
    coded,
    codelist,
    constraint,
    dimension,
    extension,
    keys,
    measure,
    region,
    rules_of,
    selected,
    structure,
    table,
    text,
    time,
    value_list,
    version_of,
)

AREA = codelist("AREA", ["EU", "AT<EU", "W<AT", "DE<EU", "US"])
FREQ = codelist("FREQ", ["A", "M", "Q"])
STATUS = codelist("STATUS", ["F", "P"])
PLAIN = structure(
    dimension("AREA", coded("AREA")), dimension("FREQ", coded("FREQ")), time(), attribute("STATUS", coded("STATUS")),
    measure(),
)  # fmt: skip
SEVERAL = structure(
    dimension("AREA", coded("AREA")), dimension("FREQ", coded("FREQ")), time(),
    attribute("STATUS", coded("STATUS"), occurs='maxOccurs="2"'), measure(),
)  # fmt: skip
TIMELESS = structure(dimension("AREA", coded("AREA")), dimension("FREQ", coded("FREQ")), measure())
BASE = (AREA, FREQ, STATUS, FLOWS)
TODAY = date(2020, 6, 15)


def resolved(*contents: str, of: str = FLOW) -> ResolvedStructure:
    """Return the structure with its constraints."""
    return Structures(version_of(*BASE, *contents)).resolve(of)


def allowed(found: ResolvedStructure, id_: str, as_of: date = TODAY, **given_: str) -> str:
    """Return the allowed ids of a component, sorted."""
    ids = found.components[id_].allowed_ids(given=given_, as_of=as_of)
    return "-" if ids is None else " ".join(sorted(ids))


OUT = '<s:KeyValue id="{}" include="false"><s:TimeRange><s:BeforePeriod>{}</s:BeforePeriod></s:TimeRange></s:KeyValue>'
CASES: list[tuple[str, tuple[str, ...], str, dict[str, str]]] = [
    ("no constraint", (), FLOW, {"AREA": "AT DE EU US W", "FREQ": "A M Q", "STATUS": "F P", "TIME_PERIOD": "-"}),
    ("a region", (constraint(region(selected("AREA", "AT", "US"), selected("STATUS", "F", kind="Component"))),), FLOW,
     {"AREA": "AT US", "FREQ": "A M Q", "STATUS": "F"}),
    ("a value that is in no list", (constraint(region(selected("FREQ", "A", "X"))),), FLOW, {"FREQ": "A"}),
    ("cascades", (constraint(region(selected("AREA", "AT+"))),), FLOW, {"AREA": "AT W"}),
    ("a cascade without its root", (constraint(region(selected("AREA", "EU-"))),), FLOW, {"AREA": "AT DE W"}),
    ("patterns", (constraint(region(selected("AREA", "%U%", "W"))),), FLOW, {"AREA": "EU US W"}),
    ("a selection that excludes", (constraint(region(selected("AREA", "AT+", more='include="false"'))),), FLOW,
     {"AREA": "DE EU US"}),
    ("a region that is excluded", (constraint(region(selected("AREA", "US"), include="false")),), FLOW,
     {"AREA": "AT DE EU W"}),
    ("an excluded region of two components leaves each of them", (
        constraint(region(selected("AREA", "US"), selected("FREQ", "M"), include="false")),), FLOW,
     {"AREA": "AT DE EU US W", "FREQ": "A M Q"}),
    ("one that has the whole of the other", (
        constraint(region(selected("AREA", "US"), selected("FREQ", "%"), include="false")),), FLOW,
     {"AREA": "AT DE EU W", "FREQ": "A M Q"}),
    ("several regions", (constraint(region(selected("AREA", "AT"), selected("FREQ", "A"))
                                    + region(selected("AREA", "DE"), selected("FREQ", "M"))),), FLOW,
     {"AREA": "AT DE", "FREQ": "A M"}),
    ("keys", (constraint(keys({"AREA": "AT", "FREQ": "A"}, {"AREA": "US", "FREQ": "Q"})),), FLOW,
     {"AREA": "AT US", "FREQ": "A Q"}),
    ("a key that leaves a dimension out", (constraint(keys({"AREA": "AT"}, {"FREQ": "Q"})),), FLOW,
     {"AREA": "AT DE EU US W", "FREQ": "A M Q"}),
    ("keys that are excluded", (constraint(keys({"AREA": "AT"}, {"AREA": "US", "FREQ": "Q"}, included="false")),), FLOW,
     {"AREA": "DE EU US W", "FREQ": "A M Q"}),
    ("an included key set after an excluded one", (
        constraint(keys({"FREQ": "A"}, {"FREQ": "Q"}, included="false") + keys({"AREA": "AT", "FREQ": "A"})),), FLOW,
     {"AREA": "AT DE EU US W", "FREQ": "A M"}),
    ("constraints of all levels", (
        constraint(region(selected("AREA", "EU+"))),
        constraint(region(selected("AREA", "AT+")), "Dataflow", "C2"),
        constraint(region(selected("FREQ", "A")), "ProvisionAgreement", "C3"),
        constraint(region(selected("AREA", "W")), "DataProvider", "C4")), FLOW, {"AREA": "AT W", "FREQ": "A M Q"}),
    ("those of the agreement and its provider", (
        constraint(region(selected("AREA", "EU+"))),
        constraint(region(selected("AREA", "AT+")), "Dataflow", "C2"),
        constraint(region(selected("FREQ", "A")), "ProvisionAgreement", "C3"),
        constraint(region(selected("AREA", "W")), "DataProvider", "C4")), AGREEMENT, {"AREA": "W", "FREQ": "A"}),
    ("what one constraint leaves narrows what another means", (
        constraint(region(selected("FREQ", "A"))),
        constraint(keys({"AREA": "AT", "FREQ": "A"}, {"AREA": "US", "FREQ": "Q"}), "Dataflow", "C2")), FLOW,
     {"AREA": "AT", "FREQ": "A"}),
    ("constraints of one level that contradict each other", (
        constraint(region(selected("FREQ", "A"))), constraint(region(selected("FREQ", "M")), id_="C2")), FLOW,
     {"AREA": "", "FREQ": "", "STATUS": ""}),
    ("a lower level that contradicts a higher one", (
        constraint(region(selected("FREQ", "A", "Q"))),
        constraint(region(selected("FREQ", "M"), selected("AREA", "AT")), "Dataflow", "C2")), FLOW,
     {"AREA": "AT", "FREQ": "A Q"}),
    ("a lower level that allows more than a higher one", (
        constraint(region(selected("FREQ", "M"), include="false")),
        constraint(region(selected("FREQ", "A", "M")), "Dataflow", "C2"),
        constraint(region(selected("FREQ", "Q")), "ProvisionAgreement", "C3")), AGREEMENT, {"FREQ": "Q"}),
    ("a lower level whose pattern selects more than a higher one allows", (
        constraint(region(selected("AREA", "EU", "AT"))),
        constraint(region(selected("AREA", "%U%")), "Dataflow", "C2")), FLOW, {"AREA": "EU"}),
    ("a lower level whose cascade selects more than a higher one allows", (
        constraint(region(selected("AREA", "EU", "AT", "US"))),
        constraint(region(selected("AREA", "EU+")), "Dataflow", "C2")), FLOW, {"AREA": "AT EU"}),
    ("a lower level whose cascade without its root selects more", (
        constraint(region(selected("AREA", "EU", "AT", "US"))),
        constraint(region(selected("AREA", "EU-")), "Dataflow", "C2")), FLOW, {"AREA": "AT"}),
    ("a lower level that excludes what a higher one allows", (
        constraint(region(selected("FREQ", "A", "Q"))),
        constraint(region(selected("FREQ", "M", "Q", more='include="false"')), "Dataflow", "C2")), FLOW, {"FREQ": "A"}),
    ("what data there is says nothing of what may be", (
        constraint(region(selected("AREA", "AT")), role="Actual"),), FLOW, {"AREA": "AT DE EU US W"}),
    ("the latest version that is not a draft", (
        constraint(region(selected("AREA", "AT")), version="1.0.0"),
        constraint(region(selected("AREA", "DE")), version="1.1.0"),
        constraint(region(selected("AREA", "US")), version="2.0.0-draft")), FLOW, {"AREA": "DE"}),
    ("a constraint that is not valid any more", (
        constraint(region(selected("AREA", "AT")), more='validTo="2019-12-31T00:00:00"'),
        constraint(region(selected("FREQ", "A")), id_="C2", more='validFrom="2020-06-15T00:00:00"')), FLOW,
     {"AREA": "AT DE EU US W", "FREQ": "A"}),
    ("a component that is none", (constraint(region(selected("FOO", "X"), '<s:KeyValue id="BAR"/>')),), FLOW,
     {"AREA": "AT DE EU US W"}),
    ("dated values of a component that is none", (
        constraint(region(selected("FOO", "X@2010/2011"), selected("BAR", "X", more='validTo="2010"'))),), FLOW,
     {"AREA": "AT DE EU US W"}),
    ("an excluded range of a component that is none", (constraint(region(OUT.format("FOO", "2010"))),), FLOW,
     {"AREA": "AT DE EU US W"}),
    ("an excluded range that is not understood", (
        constraint(region(OUT.format("TIME_PERIOD", "2010-01-01/P1Y"), selected("AREA", "AT"))),), FLOW,
     {"AREA": "AT"}),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_the_allowed_ids_are_those_that_validation_accepts(
    case: tuple[str, tuple[str, ...], str, dict[str, str]],
) -> None:
    """The allowed ids are those that the constraints leave, and validation accepts each of them in some row."""
    _, constraints, of, expected = case
    found = resolved(PLAIN, *constraints, of=of)
    assert {id_: allowed(found, id_) for id_ in expected} == expected
    possible = brute_force(version_of(*BASE, PLAIN, *constraints), of)
    assert {id_: allowed(found, id_) for id_ in possible} == {
        id_: " ".join(sorted(ids)) for id_, ids in possible.items()
    }


def brute_force(snapshot: Any, of: str, **given_: str) -> dict[str, set[str]]:
    """Return the codes of each component in all possible rows that break no constraint."""
    rules = rules_of(snapshot, of, as_of=TODAY)
    checks = [check.broken for check in rules.checks if check.rule.endswith(("-not-allowed", "-not-valid"))]
    columns: dict[str, list[str | None]] = {
        column.id: [*sorted(column.values)] for column in rules.columns if column.enumeration
    }
    for column in rules.columns:
        columns[column.id] = [given_[column.id]] if column.id in given_ else columns.get(column.id, ["2019", "2021"])
        if column.kind != "dimension" and column.id not in given_:
            columns[column.id] = [*(columns[column.id] if column.enumeration else []), None]
    rows = [dict(zip(columns, row, strict=True)) for row in product(*columns.values())]
    coded_ = [column.id for column in rules.columns if column.enumeration]
    several = [column.id for column in rules.columns if column.is_multi_valued and column.id not in given_]
    if several:
        return brute_force_of_lists(rules, rows, coded_, several[0])
    good = [row for row in rows if not any(evaluate_condition(broken, row) for broken in checks)]
    return {id_: {code for row in good if (code := row[id_]) is not None} for id_ in coded_}


def brute_force_of_lists(
    rules: Rules, rows: list[dict[str, str | None]], coded_: list[str], several: str
) -> dict[str, set[str]]:
    """Return the codes in all possible rows without findings, if one component has one or two values in a row."""
    firsts = [row for row in rows if row[several] is not None]
    codes = sorted({str(row[several]) for row in firsts})
    tried: list[dict[str, Any]] = [
        row | {several: sorted({str(row[several]), code})} for row in firsts for code in codes
    ]
    tried += [row for row in rows if row[several] is None]
    checked = validate(table(tried), rules)["_errors"].to_list()
    good = [
        row for row, errors in zip(tried, checked, strict=True)
        if not any(error["rule"].endswith(("-not-allowed", "-not-valid")) for error in errors or ())
    ]  # fmt: skip
    found = {id_: {row[id_] for row in good} - {None} for id_ in coded_ if id_ != several}
    return found | {several: {code for row in good for code in row[several] or ()}}


def test_validity_is_that_of_the_observation() -> None:
    """A code with a validity is allowed in some row; with a given period, only within its validity."""
    found = resolved(PLAIN, constraint(region(selected("AREA", "AT@/2019", "DE@2021", "US"))))
    assert allowed(found, "AREA") == "AT DE US"
    assert allowed(found, "AREA", TIME_PERIOD="2019") == "AT US"
    assert allowed(found, "AREA", TIME_PERIOD="2020-Q1") == "US"
    assert allowed(found, "AREA", TIME_PERIOD="2021-05") == "DE US"
    dated = resolved(PLAIN, constraint(region(selected("AREA", "AT"), include="false", more='validFrom="2020"')))
    assert allowed(dated, "AREA", TIME_PERIOD="2019") == "AT DE EU US W"
    assert allowed(dated, "AREA", TIME_PERIOD="2020") == "DE EU US W"
    timeless = resolved(TIMELESS, constraint(region(selected("AREA", "AT@/2019", "DE@2020", "US"))))
    assert allowed(timeless, "AREA") == "DE US"
    assert allowed(timeless, "AREA", date(2019, 1, 1)) == "AT US"


def test_given_values_narrow_the_allowed_ids() -> None:
    """Given values of other components narrow the allowed ids; an impossible value leaves none."""
    pairs = [{"AREA": area, "FREQ": freq} for area, freq in (("AT", "A"), ("US", "Q"), ("DE", "A"))]
    found = resolved(PLAIN, constraint(keys(*pairs)))
    assert allowed(found, "AREA", FREQ="A") == "AT DE"
    assert allowed(found, "AREA", FREQ="M") == ""
    assert allowed(found, "FREQ", AREA="US") == "Q"
    assert allowed(found, "FREQ", FREQ="A") == "A"
    assert allowed(found, "FREQ", STATUS="X") == ""
    excluded = resolved(PLAIN, constraint(region(selected("AREA", "US"), selected("FREQ", "M"), include="false")))
    assert allowed(excluded, "AREA", FREQ="M") == "AT DE EU W"
    assert allowed(excluded, "AREA", FREQ="A") == "AT DE EU US W"
    with pytest.raises(UsageError, match="values are given for NOPE, but the components are AREA, FREQ"):
        allowed(found, "AREA", NOPE="X")


def test_components_of_other_lists() -> None:
    """Ids of extensions without their prefix and of value lists are allowed; an uncoded component has no list."""
    more = codelist("MORE", ["OWN"], extension("AREA", "X_"))
    one = structure(dimension("AREA", coded("MORE")), attribute("V", coded("VL", "ValueList")), dimension("ID", text()),
                    measure())  # fmt: skip
    without = region(selected("AREA", "X_AT", "OWN", more='removePrefix="true"'), selected("V", "¥", kind="Component"))
    found = resolved(more, value_list("VL", ["¥", "€"]), one, constraint(without), of=DSD)
    assert (allowed(found, "AREA"), allowed(found, "V"), allowed(found, "ID")) == ("AT OWN", "¥", "-")
    assert found.components["AREA"].listed_ids() == {"OWN", "X_EU", "X_AT", "X_W", "X_DE", "X_US"}
    assert found.components["ID"].listed_ids() is None
    again = pickle.loads(pickle.dumps(found))
    assert again == found
    assert allowed(again, "AREA") == "AT OWN"
    assert hash(again.components["AREA"].constraints) == hash(found.components["AREA"].constraints)


@pytest.mark.parametrize(
    ("value", "expected"),
    [("AT", "AT"), ("A%", "AT"), ("AT+", "AT W"), ("EU-", "AT DE W"), ("X_A%", "AT"), ("O%", "OWN")],
)
def test_values_select_codes_by_their_ids_without_the_prefix(value: str, expected: str) -> None:
    """If the prefix is removed, ids, patterns and cascades name the codes of the extended list."""
    more = codelist("MORE", ["OWN"], extension("AREA", "X_"))
    without = region(selected("AREA", value, more='removePrefix="true"'))
    found = resolved(more, structure(dimension("AREA", coded("MORE")), measure()), constraint(without), of=DSD)
    assert allowed(found, "AREA") == expected


OF_STATUS = "Component"


@pytest.mark.parametrize(
    ("selections_", "include", "expected"),
    [
        ((selected("STATUS", "F", kind=OF_STATUS),), "true", "F P"),
        ((selected("STATUS", "F%", kind=OF_STATUS),), "true", "F P"),
        ((selected("STATUS", "X", kind=OF_STATUS),), "true", ""),
        ((selected("STATUS", "F", kind=OF_STATUS, more='include="false"'),), "true", "P"),
        ((selected("STATUS", "F", kind=OF_STATUS),), "false", "P"),
        ((selected("AREA", "AT"), selected("STATUS", "F", kind=OF_STATUS)), "true", "F P"),
    ],
)
@pytest.mark.parametrize("occurs", ['maxOccurs="2"', 'maxOccurs="unbounded"'])
def test_each_of_several_values_is_allowed_beside_a_selected_one(
    occurs: str, selections_: tuple[str, ...], include: str, expected: str
) -> None:
    """A row needs one value that is selected, and no value that is excluded, as validation demands."""
    one = SEVERAL.replace('maxOccurs="2"', occurs)
    constraints = constraint(region(*selections_, include=include))
    found = resolved(one, constraints)
    assert allowed(found, "STATUS") == expected
    assert allowed(found, "STATUS", STATUS="P") == ("P" if expected == "P" else ""), "the row has only this value"
    assert brute_force(version_of(*BASE, one, constraints), FLOW)["STATUS"] == set(expected.split())


# --- random constraints ---

AREAS = st.sampled_from(["EU", "AT", "W", "DE", "US", "EU+", "AT-", "%T", "U%", "X"])
WHEN = st.sampled_from(["", "", "", "@2020", "@/2020"])
IDS = {"AREA": AREAS, "FREQ": st.sampled_from(["A", "M", "Q", "%"]), "STATUS": st.sampled_from(["F", "P"])}


@st.composite
def selections(draw: Any, id_: str) -> str:
    """Draw included or excluded values of a component."""
    values = draw(st.lists(st.tuples(IDS[id_], WHEN).map("".join), max_size=3, unique=True))
    include = draw(st.sampled_from(["", "", 'include="false"']))
    return selected(id_, *values, kind="Component" if id_ == "STATUS" else "KeyValue", more=include)


@st.composite
def regions(draw: Any) -> str:
    """Draw a region of some components."""
    ids = draw(st.lists(st.sampled_from(list(IDS)), min_size=1, max_size=3, unique=True))
    more = draw(st.sampled_from(["", "", 'validFrom="2020"']))
    include = draw(st.sampled_from(["true", "true", "false"]))
    return region(*(draw(selections(id_)) for id_ in sorted(ids)), include=include, more=more)


KEYS = st.fixed_dictionaries({}, optional={"AREA": st.sampled_from(["AT", "DE", "US"]), "FREQ": IDS["FREQ"]})
KEY_SETS = st.builds(
    lambda every, included: keys(*every, included=included),
    st.lists(KEYS.filter(bool), min_size=1, max_size=4), st.sampled_from(["true", "true", "false"]),
)  # fmt: skip
BODIES = st.tuples(st.lists(KEY_SETS, max_size=1), st.lists(regions(), max_size=3)).map(
    lambda parts: "".join(parts[0]) + "".join(parts[1])
)
CONSTRAINTS = st.lists(BODIES, min_size=1, max_size=3)
GIVEN = st.sampled_from([{}, {}, {"FREQ": "M"}, {"TIME_PERIOD": "2019"}, {"STATUS": "F", "TIME_PERIOD": "2021"}])


@settings(max_examples=examples(150), deadline=None)
@given(CONSTRAINTS, st.booleans(), st.booleans(), GIVEN)
@pytest.mark.thorough
def test_against_all_rows(bodies: list[str], has_time: bool, has_several: bool, given_: dict[str, str]) -> None:
    """Whatever the constraints, each id in a valid row is allowed; the cases above show which others may be."""
    plain = SEVERAL if has_several else PLAIN
    one = plain if has_time else plain.replace(time(), "")
    levels = ("DataStructure", "Dataflow", "Dataflow")
    constraints = [constraint(body, levels[at], f"C{at}") for at, body in enumerate(bodies)]
    given_ = {id_: value for id_, value in given_.items() if has_time or id_ != "TIME_PERIOD"}
    snapshot = version_of(*BASE, one, *constraints)
    found = Structures(snapshot).resolve(FLOW)
    for id_, possible in brute_force(snapshot, FLOW, **given_).items():
        ids = found.components[id_].allowed_ids(given=given_, as_of=TODAY)
        assert ids is not None
        assert possible <= ids, id_
