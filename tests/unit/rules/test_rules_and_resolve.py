"""Differential test: rules demand, and validation accepts, exactly what ``resolve`` says about the components."""

from __future__ import annotations

import re
from typing import NamedTuple

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from kafka_replica.data.validation import compile_rules
from kafka_replica.sdmx import Structures, Urn, read_files
from kafka_replica.sdmx.errors import SdmxError
from support.effort import examples
from support.paths import CORPUS
from support.rules.agreement import TODAY, compare
from support.rules.structures_by_hand import (
    DSD,
    FLOW,
    FLOWS,
    attribute,
    coded,
    codelist,
    concepts,
    constraint,
    dimension,
    group,
    keys,
    measure,
    region,
    rules_of,
    selected,
    structure,
    text,
    time,
    value_list,
    version_of,
)

LISTS = codelist("AREA", ["EU", "AT<EU", "DE<EU", "US"]) + value_list("SIGN", ["+", "-", "~"])
UNRELATED = constraint(region(selected("D1", "US")), id_="BAD").replace('agencyID="T"', 'agencyID="OTHER"')
"""A constraint of another agency; version_of can make its record unreadable."""


@pytest.mark.long
@pytest.mark.corpus
@pytest.mark.skipif(
    not CORPUS.exists(),
    reason="the shared corpus is not here (../shared/corpus beside the project): real structures are NOT compared",
)
def test_rules_of_published_structures_equal_resolve() -> None:
    """All structures of the corpus are compared, read as one version, so that references between files resolve."""
    structures = read_files(CORPUS)
    compared = judged = 0
    known: set[object] = set()
    for class_ in ("DataStructure", "Dataflow", "ProvisionAgreement"):
        for urn in structures.find(class_):
            if why_unresolved(structures, urn) is None:
                judged += compare(structures, urn, known)
                compared += 1
            else:
                with pytest.raises(SdmxError, match=re.escape(str(why_unresolved(structures, urn)))):
                    compile_rules(structures, urn, as_of=TODAY)
    assert compared >= 40
    assert judged >= 1_000


def why_unresolved(structures: Structures, urn: Urn) -> SdmxError | None:
    """Return the error of resolve; None if it returns a structure."""
    try:
        structures.resolve(urn, metadata=False)
    except SdmxError as error:
        return error
    return None


# --- generated structures ---


class Values(NamedTuple):
    """A representation as written: empty if only the number of values is stated."""

    written: str = ""
    occurs: str = ""


OCCURS = st.sampled_from([
    "", "", 'minOccurs="0"', 'minOccurs="1"', 'maxOccurs="1"', 'maxOccurs="3"', 'maxOccurs="unbounded"',
    'minOccurs="2" maxOccurs="4"', 'minOccurs="0" maxOccurs="unbounded"', 'minOccurs="3" maxOccurs="unbounded"',
])  # fmt: skip
WRITTEN = st.sampled_from([
    "", "", coded("AREA"), coded("SIGN", "ValueList"), text(), text("String", maxLength=4), text("String", minLength=3),
    text("String", pattern="[A-Z]{2}[0-9]?"), text("Integer", minValue=2, maxValue=9), text("Double", decimals=2),
    text("Decimal", isSequence="true", startValue=1, interval=2), text("Boolean"), text("GregorianYear"),
    text("String", sentinels=("N/A",)), text("Integer", minLength=2), text("Double", isSequence="false", startValue=3),
])  # fmt: skip
VALUES = st.builds(Values, WRITTEN, OCCURS)
DIMENSIONS = st.sampled_from([coded("AREA"), coded("AREA"), text("String", maxLength=4), ""])
USAGE = st.sampled_from(["optional", "mandatory"])
LEVELS = st.sampled_from(["", "", "", "DATASET", "D1", "D1,D2", "D2,TIME_PERIOD", "GROUP:G", "GROUP:NONE"])
IDS = st.sampled_from(["EU", "AT", "DE", "US", "EU+", "AT-", "%U%", "X"])


@st.composite
def constraints(draw: st.DrawFn) -> str:
    """Return a constraint on the structure or the flow, by regions or keys."""
    parts = []
    for _ in range(draw(st.integers(1, 2))):
        chosen = [selected("D1", *draw(st.lists(IDS, min_size=1, max_size=3, unique=True)))]
        if draw(st.booleans()):
            chosen.append(selected("D2", draw(IDS)))
        if draw(st.booleans()):
            chosen.append(selected("A1", *draw(st.lists(IDS, min_size=1, max_size=2, unique=True)), kind="Component"))
        parts.append(region(*chosen, include=draw(st.sampled_from(["true", "true", "false"]))))
    body = "".join(parts)
    if draw(st.booleans()):
        pairs = draw(
            st.lists(st.tuples(st.sampled_from(["EU", "AT", "DE"]), st.sampled_from(["EU", "US"])), min_size=1)
        )
        body = keys(*({"D1": one, "D2": two} for one, two in pairs), included=draw(st.sampled_from(["true", "false"])))
    return constraint(body, draw(st.sampled_from(["DataStructure", "Dataflow"])), draw(st.sampled_from(["C1", "C2"])))


@st.composite
def versions(draw: st.DrawFn) -> Structures:
    """Return a version with the structure T:D(1.0): representations of components, of their concepts, or of neither."""
    own = {id_: draw(VALUES) for id_ in ("A1", "A2", "OBS_VALUE")}
    core = [(id_, draw(DIMENSIONS), "") for id_ in ("D1", "D2")]
    core += [(id_, *draw(VALUES)) for id_ in own]
    parts = [
        dimension("D1", draw(st.sampled_from([coded("AREA"), ""]))), dimension("D2", draw(DIMENSIONS)), time(),
        group("G", "D1"),
        *(attribute(id_, own[id_].written, draw(LEVELS), draw(USAGE), own[id_].occurs) for id_ in ("A1", "A2")),
        measure("OBS_VALUE", own["OBS_VALUE"].written, draw(USAGE), own["OBS_VALUE"].occurs),
    ]  # fmt: skip
    demands = draw(st.lists(constraints(), max_size=2, unique_by=lambda one: 'id="C1"' in one))
    if draw(st.booleans()):
        demands.append(UNRELATED)
    return Structures(version_of(LISTS, concepts(*core), structure(*parts), FLOWS, *demands, unreadable={"BAD"}))


@pytest.mark.thorough
@settings(max_examples=examples(15), deadline=None)
@given(versions(), st.sampled_from([DSD, FLOW]))
def test_rules_of_generated_structures_equal_resolve(structures: Structures, of: str) -> None:
    """Occurrences, types, facets, codes after constraints and levels agree, and so do verdicts on values."""
    event("values were judged" if compare(structures, of) else "no row satisfies the rules")


# --- the least structures that told the two apart ---


def test_a_component_has_the_most_values_of_its_concept_beside_a_least_number_of_its_own() -> None:
    """Local minOccurs=0 and the concept's maxOccurs=unbounded: rules and look-ups both allow any number of values."""
    core = concepts(("A", text("Integer"), 'maxOccurs="unbounded"'))
    one = structure(dimension("D1", coded("AREA")), attribute("A", "", occurs='minOccurs="0"'), measure())
    assert compare(Structures(version_of(LISTS, core, one, FLOWS)), FLOW) > 0


def test_an_unreadable_constraint_of_another_agency_is_listed_by_both() -> None:
    """A constraint that cannot be read stops neither resolution nor compilation; both name it."""
    one = structure(dimension("D1", coded("AREA")), measure())
    structures = Structures(version_of(LISTS, one, FLOWS, UNRELATED, unreadable={"BAD"}))
    assert [urn.agency for urn in structures.resolve(FLOW).unread_constraints] == ["OTHER"]
    assert compare(structures, FLOW) > 0


def test_a_draft_selects_the_same_structure_for_both() -> None:
    """A version rule in a draft may select a draft: the rules are of the structure that resolve selects."""
    stable = structure(dimension("D1", coded("AREA")), measure()).replace('version="1.0"', 'version="1.0.0"')
    draft = structure(dimension("D1", coded("AREA")), attribute("NEW", to="D1"), measure())
    draft = draft.replace('version="1.0"', 'version="1.1.0-draft"')
    flow = FLOWS.replace("T:D(1.0)", "T:D(1.0+.0)").replace('id="F" version="1.0"', 'id="F" version="1.0.0-draft"')
    structures = Structures(version_of(LISTS, stable, draft, flow))
    urn = FLOW.replace("(1.0)", "(1.0.0-draft)")
    assert str(structures.resolve(urn).data_structure.urn).endswith("T:D(1.1.0-draft)")
    assert compare(structures, urn) > 0
    rules = rules_of(version_of(LISTS, stable, draft, flow), urn)
    assert str(rules.structure).endswith("T:D(1.1.0-draft)")
    assert [level.level for level in rules.levels] == [("D1",)]
