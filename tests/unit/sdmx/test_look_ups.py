"""Look-ups of every class, and of every item that has a URN."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from kafka_replica.sdmx import Structures, Urn, read_message, split_message
from kafka_replica.sdmx.containers import Items, StubTuple
from kafka_replica.sdmx.errors import ArtefactNotFoundError, UnreadableContentError, UrnError
from kafka_replica.sdmx.model import ARTEFACTS, Artefact, ContentConstraint, DataConstraint
from support.sdmx.sdmx_corpus import FakeSnapshot
from support.sdmx.sdmx_json_samples import SAMPLE, SAMPLE_1_0, URN, artefact, message, named

METHODS = {
    cls: {"GeographicCodelist": "codelist", "GeoGridCodelist": "codelist", "ContentConstraint": "data_constraint"}.get(
        cls, re.sub(r"(?<=[a-z])(?=[A-Z])", "_", cls).lower()
    )
    for cls in ARTEFACTS
}


def structures_of(*messages: bytes) -> Structures:
    """Return look-ups in a version of these messages."""
    return Structures(FakeSnapshot.of([part for message in messages for part in split_message(message)]))


@pytest.fixture(scope="module")
def structures() -> Structures:
    """Look-ups with an artefact of every class."""
    return structures_of(message(SAMPLE_1_0, "1.0"), message(SAMPLE))


@pytest.mark.parametrize("cls", sorted(ARTEFACTS))
def test_every_class_has_a_look_up(structures: Structures, cls: str) -> None:
    """Each class is found by reference and URN as its struct; another class's URN is refused."""
    ask = getattr(structures, METHODS[cls])
    for urn in structures.find(cls):
        found = ask(urn.reference)
        assert found.urn.reference == urn.reference
        assert isinstance(ask(urn), ARTEFACTS[cls])
    wrong = "Categorisation" if cls != "Categorisation" else "Codelist"
    with pytest.raises(UrnError, match=f"names a {wrong}; use get"):
        ask(Urn.of(wrong, "A", "X", "1.0"))
    with pytest.raises(ArtefactNotFoundError):
        ask("NOBODY:NOTHING(1.0)")


def test_the_samples_have_every_class(structures: Structures) -> None:
    """The samples have every class except metadata sets and registrations, which may be in other messages."""
    assert set(ARTEFACTS) - {urn.cls for urn in structures} <= {"MetadataSet", "Registration"}


def test_constraints_under_both_names(structures: Structures) -> None:
    """Constraints of 2.1 and of 3.x are found under both names."""
    assert isinstance(structures.data_constraint("A:CON(1.0.0)"), DataConstraint)
    assert isinstance(structures.data_constraint("A:CC(1.0)"), ContentConstraint)


def held(one: Artefact) -> Iterator[Any]:
    """Yield all parts of an artefact that have a URN of their own."""
    stack: list[Any] = [one]
    while stack:
        part = stack.pop()
        if isinstance(part, Urn):
            continue
        if isinstance(part, msgspec.Struct):
            if part is not one and isinstance(getattr(part, "urn", None), Urn):
                yield part
            stack.extend(getattr(part, name) for name in part.__struct_fields__)
        elif isinstance(part, Items) and not part.is_stub:
            stack.extend(part.values())
        elif isinstance(part, tuple) and not isinstance(part, StubTuple):
            stack.extend(part)


@pytest.mark.parametrize(
    ("data", "some"),
    [
        (message(SAMPLE), {"Code", "Category", "Level", "Dimension", "MetadataAttribute", "DatePatternMap"}),
        (
            message(SAMPLE_1_0, "1.0"),
            {"Hierarchy", "MeasureDimension", "MetadataTarget", "CodelistMap", "PrimaryMeasure"},
        ),
    ],
    ids=["3.0", "1.0"],
)
def test_every_identifiable_part_is_found_by_its_urn(data: bytes, some: set[str]) -> None:
    """Codes, components, levels, steps and transitions, maps within sets, and date patterns are found by their URNs."""
    structures = structures_of(data)
    found = [(part, structures.get(part.urn)) for one in read_message(data) for part in held(one)]
    assert all(part == item for part, item in found)
    assert {part.urn.cls for part, _ in found} >= some


@pytest.mark.parametrize(
    ("urn", "is_there"),
    [
        ("structuremapping.DatePatternMap=A:SM(1.0.0).D", True),
        ("structuremapping.EpochMap=A:SM(1.0.0).D", False),
        ("structuremapping.FrequencyFormatMapping=A:SM(1.0.0).F", True),
        ("process.Transition=A:PR(1.0.0).S1.T", True),
        ("process.Transition=A:PR(1.0.0).S1.S2.T", False),
        ("codelist.Level=A:HCL(1.0).H1.L1.L2", True),
        ("codelist.Level=A:HCL(1.0).L1", False),
        ("codelist.Level=A:H(1.0.0).L1.L2", True),
        ("mapping.CodelistMap=A:SS(1.0).CM", True),
        ("mapping.StructureMap=A:SS(1.0).SM", True),
        ("mapping.ConceptSchemeMap=A:SS(1.0).CM", False),
    ],
)
def test_items_that_are_in_no_scheme(structures: Structures, urn: str, is_there: bool) -> None:
    """Items outside schemes are found by class and path; an item of another class with the same id is not."""
    if is_there:
        assert str(structures.get(URN + urn).urn) == URN + urn
    else:
        with pytest.raises(ArtefactNotFoundError, match="has no"):
            structures.get(URN + urn)


def test_items_of_stubs_are_refused() -> None:
    """Items of a stub raise: they are elsewhere, which differs from missing."""
    stub = {"isExternalReference": True}
    stubs = structures_of(
        message({"structureMaps": [artefact("SM", **stub)], "codelists": [artefact("CL", **stub)]}),
    )
    assert stubs.structure_map("A:SM(1.0.0)").is_stub
    for urn in ("structuremapping.DatePatternMap=A:SM(1.0.0).D", "codelist.Code=A:CL(1.0.0).A"):
        with pytest.raises(UnreadableContentError, match="stub"):
            stubs.get(URN + urn)


@pytest.mark.parametrize(
    ("reference", "version"),
    [
        ("A:CL(1.0)", "1.0"), ("A:CL(1.0+)", "1.10"), ("A:CL(1+)", "2.0.0"), ("A:CL(1+.0)", "2.0.0"),
        ("A:CL(1.9+)", "1.10"), ("A:CL(2.0+.0)", "2.0.0"), ("A:CL(3.0.0-draft)", "3.0.0-draft"), ("A:CL(*)", "2.0.0"),
    ],
)  # fmt: skip
def test_version_rules_in_look_ups(reference: str, version: str) -> None:
    """Two-part versions compare by number, also with semantic ones; drafts are found only by name."""
    lists = [artefact("CL", version=one, codes=[named("A")]) for one in ("1.0", "1.9", "1.10", "2.0.0", "3.0.0-draft")]
    found = structures_of(message({"codelists": lists}))
    assert found.codelist(reference).version == version
    assert found.get(f"{URN}codelist.Code={reference}.A").urn.version == version
