"""Resolution: everything that validation needs in one value, applicable constraints, and all missing parts at once."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from kafka_replica.sdmx import Codelist, ConceptScheme, Structures, Urn, ValueList, read_message, split_message
from kafka_replica.sdmx.errors import (
    ArtefactNotFoundError,
    IncompleteStructureError,
    MessageError,
    UnreadableContentError,
    UrnError,
)
from kafka_replica.sdmx.lookups import decoding as decoding_module
from kafka_replica.sdmx.lookups.cache import DecodeCache
from kafka_replica.sdmx.lookups.resolved_structure import ConstraintLevel, MissingReference, ResolvedStructure
from kafka_replica.sdmx.model import Constraint
from kafka_replica.sdmx.model.representation import Representation, TextFormat, effective_representation
from support.sdmx.sdmx_corpus import FakeSnapshot, data_of, record, rows
from support.sdmx.sdmx_json_samples import CODELIST, CONCEPT, DSD, FLOW, SAMPLE_1_0, URN, artefact, message, named

AGREEMENT = f"{URN}registry.ProvisionAgreement=A:PA(1.0.0)"
PROVIDER = f"{URN}base.DataProvider=A:DATA_PROVIDERS(1.0).P"
LIST = f"{URN}codelist.Codelist=A:"


def dimension(id_: str, **more: Any) -> dict[str, Any]:
    """Return a dimension with the concept of its name."""
    return {"id": id_, "conceptIdentity": CONCEPT + id_} | more


def enumerated(by: str, **more: Any) -> dict[str, Any]:
    """Return a component with a list of its own."""
    return {"localRepresentation": {"enumeration": by} | more}


def structure(**lists: Any) -> dict[str, Any]:
    """Return the data structure of the sample."""
    components = {
        "dimensionList": {
            "id": "DimensionDescriptor",
            "dimensions": [dimension("FREQ"), dimension("AREA", **enumerated(LIST + "AREA(1.0+.0)"))],
            "timeDimension": dimension(
                "TIME_PERIOD", localRepresentation={"format": {"dataType": "ObservationalTimePeriod"}}
            ),
        },
        "measureList": {"id": "MeasureDescriptor", "measures": [dimension("OBS_VALUE")]},
        "attributeList": {
            "id": "AttributeDescriptor",
            "attributes": [
                dimension("CURRENCY", **enumerated(f"{URN}codelist.ValueList=A:VL(1.0.0)"),
                          attributeRelationship={"dimensions": ["AREA"]}),
                {"id": "NOTE", "attributeRelationship": {"observation": {}}},
            ],
            "metadataAttributeUsages": [
                {"metadataAttributeReference": "CONTACT.NAME", "attributeRelationship": {"dataflow": {}}}
            ],
        },
    }  # fmt: skip
    return artefact(
        "DSD",
        metadata=f"{URN}metadatastructure.MetadataStructure=A:MSD(1.0.0)",
        dataStructureComponents=components | lists,
    )


def constraint(id_: str, *references: str, **more: Any) -> dict[str, Any]:
    """Return a data constraint."""
    named_lists = {
        "Dataflow": "dataflows",
        "DataStructure": "dataStructures",
        "ProvisionAgreement": "provisionAgreements",
    }
    attachment: dict[str, Any] = {}
    for reference in references:
        cls = Urn.parse(reference).cls
        if cls == "DataProvider":
            attachment["dataProvider"] = reference
        else:
            attachment.setdefault(named_lists[cls], []).append(reference)
    return artefact(id_, role="Allowed", constraintAttachment=attachment) | more


def sample() -> dict[str, Any]:
    """Return a dataflow with everything it needs.

    It has an extended list, a value list, metadata attributes and a provision agreement.
    """
    return {
        "codelists": [
            artefact("CL", version="1.0", codes=[named("M"), named("Q")]),
            artefact("AREA", codes=[named("OLD")]),
            artefact("AREA", version="1.3.0", codes=[named("WORLD")],
                     codelistExtensions=[{"codelist": LIST + "EU(1.0.0)", "prefix": "EU_"}]),
            artefact("EU", codes=[named("DE"), named("FR")]),
        ],
        "valueLists": [artefact("VL", valueItems=[{"id": "¥", "name": "Yen"}, {"id": "€", "name": "Euro"}])],
        "conceptSchemes": [
            artefact("CS", version="1.0", concepts=[
                named("FREQ", coreRepresentation={"enumeration": CODELIST}), named("AREA"), named("TIME_PERIOD"),
                named("OBS_VALUE", coreRepresentation={"format": {"dataType": "Double"}}),
                named("NAME", coreRepresentation={"format": {"dataType": "String", "maxLength": 9}}), named("CONTACT"),
            ])
        ],
        "dataStructures": [structure()],
        "metadataStructures": [
            artefact("MSD", metadataStructureComponents={"metadataAttributeList": {
                "id": "MetadataAttributeDescriptor", "metadataAttributes": [
                    dimension("CONTACT", metadataAttributes=[dimension("NAME")])]}})
        ],
        "dataflows": [artefact("DF", structure=f"{URN}datastructure.DataStructure=A:DSD(1.0+.0)")],
        "provisionAgreements": [artefact("PA", dataflow=FLOW, dataProvider=PROVIDER)],
        "dataProviderSchemes": [
            {"id": "DATA_PROVIDERS", "agencyID": "A", "name": "N", "dataProviders": [named("P"), named("P2")]}
        ],
    }  # fmt: skip


def structures_of(*data: dict[str, Any]) -> Structures:
    """Return look-ups in a version of these artefacts."""
    return Structures(FakeSnapshot.of([part for one in data for part in split_message(message(one))]))


def without(data: dict[str, Any], *ids: str) -> dict[str, Any]:
    """Return the sample without some artefacts."""
    return {key: [one for one in some if one["id"] not in ids] for key, some in data.items()}


def test_each_component_has_its_representation_list_and_concept() -> None:
    """Each component has its representation, list and concept, in the versions given by their rules."""
    found = structures_of(sample()).resolve("A:DF(1.0.0)")
    assert (str(found.urn), found.version) == (FLOW, 7)
    assert found.dataflow is not None
    assert (found.dataflow.id, found.data_structure.id) == ("DF", "DSD")
    assert (found.provision_agreement, found.data_provider) == (None, None)
    assert list(found.components) == ["FREQ", "AREA", "TIME_PERIOD", "OBS_VALUE", "CURRENCY", "NOTE"]
    assert [component.kind for component in found.components.values()] == [
        *["dimension"] * 3,
        "measure",
        *["attribute"] * 2,
    ]
    assert [dimension.id for dimension in found.dimensions] == ["FREQ", "AREA", "TIME_PERIOD"]

    by_concept = found.components["FREQ"]
    assert isinstance(by_concept.enumeration, Codelist)
    assert by_concept.concept is not None
    assert (by_concept.concept.id, by_concept.allowed_ids()) == ("FREQ", {"M", "Q"})
    assert by_concept.component.representation is None
    assert found.components["AREA"].allowed_ids() == {"EU_DE", "EU_FR", "WORLD"}
    currency = found.components["CURRENCY"]
    assert isinstance(currency.enumeration, ValueList)
    assert currency.allowed_ids() == {"¥", "€"}
    assert currency.relationship is not None
    assert currency.relationship.dimensions == ("AREA",)
    time, value, note = (found.components[one] for one in ("TIME_PERIOD", "OBS_VALUE", "NOTE"))
    assert time.representation is not None
    assert time.representation.format == TextFormat(text_type="ObservationalTimePeriod")
    assert value.representation is not None
    assert value.representation.format == TextFormat(text_type="Double")
    assert (value.enumeration, value.allowed_ids()) == (None, None)
    assert (note.concept, note.representation, note.enumeration) == (None, None, None)


def test_metadata_attributes_that_data_may_carry() -> None:
    """Metadata attributes are found by the path of their usage, with the relationship that it defines."""
    found = structures_of(sample()).resolve(DSD)
    assert found.metadata_structure is not None
    assert list(found.metadata_attributes) == ["CONTACT.NAME"]
    name = found.metadata_attributes["CONTACT.NAME"]
    assert (name.kind, name.id) == ("metadata attribute", "NAME")
    assert name.relationship is not None
    assert name.relationship.kind == "dataset"
    assert name.representation is not None
    assert name.representation.format == TextFormat(text_type="String", max_length=9)


def test_metadata_attributes_without_a_usage() -> None:
    """Data may carry them at any level, except those with the id of a component; their concepts may be missing."""
    data = sample()
    listed = data["metadataStructures"][0]["metadataStructureComponents"]["metadataAttributeList"]
    for attribute in ("OBS_VALUE", "AREA_NOTE", "LOST"):
        listed["metadataAttributes"].append(dimension(attribute))
    listed["metadataAttributes"].append(dimension("SECTION", isPresentational=True))
    data["conceptSchemes"][0]["concepts"].append(named("AREA_NOTE", coreRepresentation={"enumeration": CODELIST}))
    found = structures_of(data).resolve(DSD)
    assert list(found.metadata_attributes) == ["CONTACT.NAME", "AREA_NOTE", "LOST"]
    note = found.metadata_attributes["AREA_NOTE"]
    assert (note.relationship, note.listed_ids()) == (None, {"M", "Q"})
    assert [one.source.item for one in found.missing] == ["CURRENCY", "LOST"]


def test_resolved_values_are_immutable() -> None:
    """A resolved structure and its components can be members of sets, and share nothing that can be changed."""
    found = structures_of(sample(), CONSTRAINTS).resolve(FLOW)
    again = pickle.loads(pickle.dumps(found))
    assert {found, again} == {found}
    assert set(again.components.values()) == set(found.components.values())
    area, note = found.components["AREA"], found.components["NOTE"]
    assert dict(area.unprefixed) == {"EU_DE": "DE", "EU_FR": "FR"}
    for component in (area, note):
        with pytest.raises(TypeError):
            component.unprefixed["X"] = "Y"  # type: ignore[index]


def test_flows_structures_and_agreements_are_resolved() -> None:
    """A dataflow, a data structure and a provision agreement are resolved from a reference, URN, or artefact."""
    structures = structures_of(sample())
    flow, agreement = structures.dataflow("A:DF(1.0.0)"), structures.provision_agreement("A:PA(1.0.0)")
    for requested in ("A:DF(1.0.0)", "A:DF(1.0+.0)", FLOW, Urn.parse(FLOW), flow):
        assert structures.resolve(requested).urn == flow.urn
    alone = structures.resolve(f"{URN}datastructure.DataStructure=A:DSD(1+.0.0)")
    assert (str(alone.urn), alone.dataflow) == (DSD, None)
    assert structures.resolve(alone.data_structure).urn == alone.urn
    for asked in (AGREEMENT, agreement):
        found = structures.resolve(asked)
        assert (found.urn, found.dataflow, found.provision_agreement) == (agreement.urn, flow, agreement)
        assert found.data_provider is not None
        assert str(found.data_provider.urn) == PROVIDER
    for wrong in (CODELIST, CONCEPT + "FREQ"):
        with pytest.raises(UrnError, match="not a DataStructure, Dataflow or ProvisionAgreement"):
            structures.resolve(wrong)
    with pytest.raises(ArtefactNotFoundError, match="no artefact has this id"):
        structures.resolve("A:NONE(1.0)")


def test_a_measure_dimension_of_2_1() -> None:
    """The values of a measure dimension are the concepts of a scheme."""
    data = SAMPLE_1_0 | {
        "dataStructures": [
            artefact("DSD", version="1.0", dataStructureComponents={"dimensionList": {
                "id": "DimensionDescriptor", "measureDimensions": [
                    {"id": "IND", "position": 1, "conceptIdentity": CONCEPT + "A",
                     "localRepresentation": {"enumeration": f"{URN}conceptscheme.ConceptScheme=A:CS(1.0)"}}]}})
        ],
    }  # fmt: skip
    structures = Structures(FakeSnapshot.of(split_message(message(data, "1.0"))))
    found = structures.resolve(f"{URN}datastructure.DataStructure=A:DSD(1.0)").components["IND"]
    assert isinstance(found.enumeration, ConceptScheme)
    assert found.allowed_ids() == {"A", "B"}


@pytest.mark.parametrize("listed", [["AREA"], ["AREA", "TIME_PERIOD"]])
def test_the_dimensions_that_a_flow_uses(listed: list[str]) -> None:
    """A dataflow of an extensible structure has the dimensions of its dimension constraint, and time (3.1)."""
    data = sample() | {"dataflows": [artefact("DF", structure=DSD, dimensionConstraint=listed)]}
    structures = structures_of(data)
    assert [dimension.id for dimension in structures.resolve(FLOW).dimensions] == ["AREA", "TIME_PERIOD"]
    assert len(structures.resolve(DSD).dimensions) == 3


FORMAT = TextFormat(text_type="Integer")
CORE = Representation(format=FORMAT, min_occurs=0, max_occurs=5)


@pytest.mark.parametrize(
    ("own", "core", "expected"),
    [
        (None, None, None),
        (None, CORE, CORE),
        (Representation(format=TextFormat()), CORE, Representation(format=TextFormat())),
        (Representation(max_occurs="unbounded"), None, Representation(max_occurs="unbounded")),
        (
            Representation(max_occurs="unbounded"), CORE,
            Representation(format=FORMAT, min_occurs=0, max_occurs="unbounded"),
        ),
        (Representation(min_occurs=1), CORE, Representation(format=FORMAT, min_occurs=1, max_occurs=5)),
    ],
)  # fmt: skip
def test_a_local_representation_counts_before_that_of_the_concept(own: Any, core: Any, expected: Any) -> None:
    """A component's own representation counts if it defines values, else its concept's; own occurrences come first."""
    assert effective_representation(own, core) == expected


# --- constraints ---


def applied(found: ResolvedStructure) -> list[tuple[str, str, str]]:
    """Return the constraints that apply."""
    return [(one.constraint.id, one.constraint.version, one.level.value) for one in found.allowed]


CONSTRAINTS = {
    "dataConstraints": [
        constraint("ON_DSD", DSD),
        constraint("ON_FLOW", FLOW),
        constraint("ON_BOTH", FLOW, AGREEMENT),
        constraint("BY_RULE", f"{URN}datastructure.Dataflow=A:DF(1.0+.0)"),
        constraint("OTHER_VERSION", f"{URN}datastructure.Dataflow=A:DF(2.0.0)"),
        constraint("ON_AGREEMENT", AGREEMENT),
        constraint("ON_PROVIDER", PROVIDER),
        constraint("ON_OTHER", PROVIDER + "2"),
        constraint("NO_ROLE", DSD, role=None),
        constraint("IS_THERE", FLOW, role="Actual"),
        constraint("VERSIONS", FLOW, version="1.9.0"),
        constraint("VERSIONS", FLOW, version="1.10.0"),
        constraint("VERSIONS", FLOW, version="2.0.0-draft"),
        artefact("FREE", role="Allowed"),
    ],
    "metadataConstraints": [
        artefact("META", role="Allowed", constraintAttachment={
            "metadataflows": [f"{URN}metadatastructure.Metadataflow=A:DF(1.0.0)"]})
    ],
}  # fmt: skip


def test_constraints_that_apply() -> None:
    """Constraints of data structure, dataflow, agreement and provider apply, in this order."""
    structures = structures_of(sample(), CONSTRAINTS)
    on_structure = [("NO_ROLE", "1.0.0", "data structure"), ("ON_DSD", "1.0.0", "data structure")]
    on_flow = [(one, "1.0.0", "dataflow") for one in ("BY_RULE", "ON_BOTH", "ON_FLOW")]
    assert applied(structures.resolve(DSD)) == on_structure
    on_flow.append(("VERSIONS", "1.10.0", "dataflow"))
    assert applied(structures.resolve(FLOW)) == on_structure + on_flow
    assert applied(structures.resolve(AGREEMENT)) == [
        ("ON_PROVIDER", "1.0.0", "data provider"), *on_structure, *on_flow,
        ("ON_AGREEMENT", "1.0.0", "provision agreement"), ("ON_BOTH", "1.0.0", "provision agreement"),
    ]  # fmt: skip
    found = structures.resolve(FLOW)
    assert [one.constraint.id for one in found.actual] == ["IS_THERE"]
    assert len([constraint for constraint in found.constraints if constraint.constraint.id == "VERSIONS"]) == 3
    assert {constraint.level for constraint in found.constraints} == {
        ConstraintLevel.DATA_STRUCTURE,
        ConstraintLevel.DATAFLOW,
    }
    assert {str(constraint.attached_to) for constraint in found.constraints} == {DSD, FLOW}
    assert found.unread_constraints == {}


def test_superseded_versions_of_a_constraint_do_not_apply() -> None:
    """A later version that is not a draft takes the place of a semantic version, whatever it is attached to."""
    data = {"dataConstraints": [
        constraint("MOVED", FLOW), constraint("MOVED", FLOW, version="1.1.0"),
        constraint("MOVED", AGREEMENT, version="2.0.0"),
        constraint("LEGACY", FLOW, version="1.0"), constraint("LEGACY", AGREEMENT, version="2.0"),
        constraint("NEXT", FLOW), constraint("NEXT", AGREEMENT, version="2.0.0-draft"),
    ]}  # fmt: skip
    found = structures_of(sample(), data).resolve(FLOW)
    assert applied(found) == [("LEGACY", "1.0", "dataflow"), ("NEXT", "1.0.0", "dataflow")]
    superseding = {(one.constraint.id, one.superseded_by and one.superseded_by.version) for one in found.constraints}
    assert superseding == {("MOVED", "2.0.0"), ("LEGACY", None), ("NEXT", None)}


@pytest.mark.parametrize("is_stub", [True, False])
def test_a_later_version_that_cannot_be_used_supersedes_nothing(is_stub: bool) -> None:
    """If the later version is a stub or cannot be read, the earlier version still applies, and the later is listed."""
    later = (
        artefact("C", version="2.0.0", isExternalReference=True) if is_stub else constraint("C", FLOW, version="2.0.0")
    )
    data = {"dataConstraints": [constraint("C", FLOW), later]}
    snapshot = FakeSnapshot.of([part for one in (sample(), data) for part in split_message(message(one))])
    key = f"{URN}registry.DataConstraint=A:C(2.0.0)".encode()
    if not is_stub:
        snapshot.records[key] = snapshot.records[key].replace(value=b"{broken")
    found = Structures(snapshot).resolve(FLOW)
    assert applied(found) == [("C", "1.0.0", "dataflow")]
    assert [urn.version for urn in found.unread_constraints] == ["2.0.0"]


def test_constraints_of_2_1() -> None:
    """A content constraint without a type is an actual one, which is the default of its schema."""
    attached = {"constraintAttachment": {"dataStructures": [DSD]}}
    old = {
        "contentConstraints": [artefact("DEFAULT", **attached), artefact("SAYS", type="Allowed", **attached)],
        "attachmentConstraints": [artefact("FOR_ATTRIBUTES", **attached)],
    }
    snapshot = FakeSnapshot.of(split_message(message(sample())) + split_message(message(old, "1.0")))
    structures = Structures(snapshot)
    found = structures.resolve(DSD)
    assert len(structures.constraints_of(DSD)) == 3
    assert [one.constraint.id for one in found.allowed] == ["SAYS"]
    assert [one.constraint.id for one in found.actual] == ["DEFAULT"]
    assert {constraint.constraint.urn.cls for constraint in found.constraints} == {"ContentConstraint"}


def test_constraints_are_found_for_all_versions_and_roles() -> None:
    """Constraints on an artefact are found for all versions and roles; an attachment by rule means one version."""
    data = sample()
    data["dataflows"].append(artefact("DF", version="1.4.0", structure=DSD))
    structures = structures_of(data, CONSTRAINTS)

    def ids(requested: str) -> list[str]:
        return [constraint.id for constraint in structures.constraints_of(requested)]

    assert ids(FLOW) == ["IS_THERE", "ON_BOTH", "ON_FLOW", "VERSIONS", "VERSIONS", "VERSIONS"]
    assert (
        ids(f"{URN}datastructure.Dataflow=A:DF(1.4.0)")
        == ids(f"{URN}datastructure.Dataflow=A:DF(1.0+.0)")
        == ["BY_RULE"]
    )
    assert ids(PROVIDER) == ["ON_PROVIDER"]
    assert ids(f"{URN}base.DataProviderScheme=A:DATA_PROVIDERS(1.0)") == []
    assert all(isinstance(constraint, Constraint) for constraint in structures.constraints_of(DSD))
    with pytest.raises(ArtefactNotFoundError):
        ids(f"{URN}datastructure.Dataflow=A:NONE(1.0)")


def test_constraints_are_found_without_decoding_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Decoding is limited to the two constraints among 200 artefacts, and to the target of the query."""
    lists = {"codelists": [artefact(f"L{i}", codes=[named("A")]) for i in range(200)]}
    parts = [part for one in (sample(), CONSTRAINTS, lists) for part in split_message(message(one))]
    structures = Structures(FakeSnapshot.of(parts), cache=DecodeCache())
    calls: list[int] = []
    real = read_message
    monkeypatch.setattr(
        decoding_module, "read_message", lambda *given, **options: calls.append(1) or real(*given, **options)
    )
    assert len(structures.constraints_of(DSD)) == 2
    assert len(calls) == len(CONSTRAINTS["dataConstraints"]) + len(CONSTRAINTS["metadataConstraints"]) + 1
    changed = split_message(message({"dataConstraints": [constraint("NEW", DSD)]}))
    records = {bytes(part.urn): record(bytes(part.urn), part.value, part.content_type) for part in (*parts, *changed)}
    gone = f"{URN}registry.DataConstraint=A:ON_DSD(1.0.0)".encode()
    del records[gone]
    calls.clear()
    later = FakeSnapshot(records, 8)
    second = structures.moved_to(later, iter([bytes(changed[0].urn), gone]))
    assert [each.id for each in second.constraints_of(DSD)] == ["NEW", "NO_ROLE"]
    assert len(calls) == 1
    assert later.gets < 10, "not all constraints are looked up again"
    assert [each.id for each in structures.constraints_of(DSD)] == ["NO_ROLE", "ON_DSD"]
    third = second.moved_to(FakeSnapshot(records, 9))
    assert [each.id for each in third.constraints_of(DSD)] == ["NEW", "NO_ROLE"]


def test_unreadable_constraints_are_listed() -> None:
    """Stubs and unreadable records are listed, as they may be constraints that apply."""
    stub = {"dataConstraints": [artefact("STUB", isExternalReference=True), constraint("BROKEN", FLOW)]}
    parts = split_message(message(sample())) + split_message(message(stub))
    snapshot = FakeSnapshot.of(parts)
    key = f"{URN}registry.DataConstraint=A:BROKEN(1.0.0)".encode()
    snapshot.records[key] = snapshot.records[key].replace(value=b"{broken")
    found = Structures(snapshot).resolve(FLOW)
    assert [unread_constraint.id for unread_constraint in found.unread_constraints] == ["BROKEN", "STUB"]
    assert ["offset 1" in why or "is a stub" in why for why in found.unread_constraints.values()] == [True, True]
    assert found.allowed == ()


def test_a_constraint_that_came_along() -> None:
    """A constraint in one message under the dataflow's key, as in answers of older registries, applies."""
    whole = message(sample() | {"dataConstraints": [constraint("ALONG", FLOW), constraint("ELSE", DSD)]})
    structures = Structures(FakeSnapshot({FLOW.encode(): record(FLOW.encode(), whole)}))
    found = structures.resolve(FLOW)
    assert applied(found) == [("ELSE", "1.0.0", "data structure"), ("ALONG", "1.0.0", "dataflow")]
    assert found.components["AREA"].allowed_ids() == {"EU_DE", "EU_FR", "WORLD"}


# --- missing structures ---


def test_all_missing_parts_are_listed_at_once() -> None:
    """All missing lists, extended lists, stubs and concepts are listed, each with the component that needs it."""
    data = without(sample(), "VL", "EU", "CL")
    data["conceptSchemes"][0]["concepts"] = [
        one for one in data["conceptSchemes"][0]["concepts"] if one["id"] != "NAME"
    ]
    data["codelists"].append(artefact("CL", version="1.0", isExternalReference=True))
    with pytest.raises(IncompleteStructureError) as caught:
        structures_of(data).resolve(FLOW)
    error_text = str(caught.value)
    missing = [one for one in caught.value.missing if isinstance(one, MissingReference)]
    assert [(one.source.item, one.target and one.target.id) for one in missing] == [
        ("FREQ", "CL"), ("AREA", "AREA"), ("CURRENCY", "VL"), ("CONTACT.NAME", "CS"),
    ]  # fmt: skip
    assert ["stub" in one.reason for one in missing] == [True, False, False, False]
    assert f"resolving {FLOW} in version 7" in error_text
    for part in ("FREQ: ", "is a stub", "AREA: ", "A:EU(1.0.0)", "CURRENCY: ", "CONTACT.NAME: "):
        assert part in error_text
    assert isinstance(caught.value, ArtefactNotFoundError)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), len(again.missing)) == (error_text, 4)


def test_a_long_list_of_missing_parts_is_shortened_only_in_the_message() -> None:
    """A part missing for several components is listed once; the message is shortened, the error is complete."""
    dimensions = [dimension(f"D{i}", **enumerated(f"{LIST}L{i // 2}(1.0.0)")) for i in range(60)]
    many = {"dimensionList": {"id": "DimensionDescriptor", "dimensions": dimensions}}
    data = sample() | {"dataStructures": [structure(**many)]}
    with pytest.raises(IncompleteStructureError, match=r"D0, D1: looking up .*; and 10 more; publish them") as caught:
        structures_of(data).resolve(DSD)
    assert len(caught.value.missing) == 60


@pytest.mark.parametrize(
    ("gone", "requested", "reason"),
    [
        ("DSD", FLOW, r"A:DF\(1\.0\.0\): looking up .*A:DSD\(1\.0\+\.0\): .*not in version 7"),
        ("DF", AGREEMENT, r"A:PA\(1\.0\.0\): looking up .*A:DF\(1\.0\.0\)"),
        ("MSD", DSD, r"A:DSD\(1\.0\.0\): looking up .*A:MSD\(1\.0\.0\)"),
    ],
)
def test_a_missing_structure_is_an_error(gone: str, requested: str, reason: str) -> None:
    """The error names the missing structure and the artefact that needs it."""
    with pytest.raises(IncompleteStructureError, match=reason):
        structures_of(without(sample(), gone)).resolve(requested)


@pytest.mark.parametrize(
    ("kind", "stub"),
    [
        ("dataStructures", artefact("DSD", isExternalReference=True)),
        ("dataflows", artefact("DF", isExternalReference=True)),
        ("metadataStructures", artefact("MSD", isExternalReference=True)),
        ("valueLists", artefact("VL", isExternalReference=True)),
        ("conceptSchemes", artefact("CS", version="1.0", isExternalReference=True)),
        ("provisionAgreements", artefact("PA", isExternalReference=True)),
    ],
)
def test_a_stub_is_reported_as_missing(kind: str, stub: dict[str, Any]) -> None:
    """A stub is reported as missing, whichever part it is."""
    with pytest.raises(IncompleteStructureError, match="stub"):
        structures_of(sample() | {kind: [stub]}).resolve(AGREEMENT)


def test_a_part_that_is_not_needed_may_be_missing() -> None:
    """A missing concept of a component with its own list, and a missing provider, are noted without an error."""
    data = without(sample(), "DATA_PROVIDERS")
    data["conceptSchemes"][0]["concepts"] = [
        one for one in data["conceptSchemes"][0]["concepts"] if one["id"] != "AREA"
    ]
    found = structures_of(data).resolve(AGREEMENT)
    assert (found.components["AREA"].concept, found.data_provider) == (None, None)
    assert [(one.source.item or one.source.id, one.target and one.target.item) for one in found.missing] == [
        ("PA", "P"), ("AREA", "AREA"), ("CURRENCY", "CURRENCY"),
    ]  # fmt: skip
    usages = structure()["dataStructureComponents"]["attributeList"] | {"metadataAttributeUsages": []}
    data = without(sample(), "MSD") | {"dataStructures": [structure(attributeList=usages)]}
    assert [one.target and one.target.id for one in structures_of(data).resolve(DSD).missing] == ["CS", "MSD"]


def test_unusable_references_raise_with_the_reason() -> None:
    """Unusable references raise errors with the reason.

    These are a flow without a structure, metadata attributes without a metadata structure or unknown in it, a list that
    has no values, and an agreement on metadata.
    """
    bare = sample() | {"dataflows": [artefact("DF")]}
    with pytest.raises(IncompleteStructureError, match="names no DataStructure"):
        structures_of(bare).resolve(FLOW)
    data = sample()
    del data["dataStructures"][0]["metadata"]
    with pytest.raises(IncompleteStructureError, match="of no metadata structure"):
        structures_of(data).resolve(FLOW)
    data = sample()
    data["metadataStructures"][0]["metadataStructureComponents"]["metadataAttributeList"]["metadataAttributes"] = []
    with pytest.raises(IncompleteStructureError, match=r"has no metadata attribute 'CONTACT\.NAME'"):
        structures_of(data).resolve(FLOW)
    listed = sample() | {"dataStructures": [structure(measureList={"id": "MeasureDescriptor", "measures": [
        dimension("OBS_VALUE", **enumerated(f"{URN}categoryscheme.CategoryScheme=A:CATS(1.0.0)"))]})],
        "categorySchemes": [artefact("CATS")]}  # fmt: skip
    with pytest.raises(IncompleteStructureError, match="has no list of values"):
        structures_of(listed).resolve(FLOW)
    flow = f"{URN}metadatastructure.Metadataflow=A:MDF(1.0)"
    agreement = {"provisionAgreements": [artefact("PA", version="1.0", structureUsage=flow)],
                 "metadataflows": [artefact("MDF", version="1.0")]}  # fmt: skip
    old = Structures(FakeSnapshot.of(split_message(message(agreement, "1.0"))))
    with pytest.raises(UrnError, match="not to a Dataflow"):
        old.resolve(f"{URN}registry.ProvisionAgreement=A:PA(1.0)")


def test_a_damaged_record_is_reported_with_its_place() -> None:
    """A damaged record is reported with the others and with its place in the log."""
    snapshot = FakeSnapshot.of(split_message(message(sample())))
    key = CODELIST.encode()
    snapshot.records[key] = snapshot.records[key].replace(value=b"{broken")
    with pytest.raises(IncompleteStructureError, match=r"FREQ: .*offset 0") as caught:
        Structures(snapshot).resolve(FLOW)
    [one] = caught.value.missing
    assert isinstance(one, MissingReference)
    assert one.reason.startswith("record at structures-3, offset 0")


# --- real files ---


def files() -> list[Any]:
    """Return the files of the corpus with dataflows or data structures."""
    found = rows(
        ("fusion-json", ""), ("sdmx-ml", "2.0"), ("sdmx-ml", "2.1"), ("sdmx-ml", "3.0"), ("sdmx-ml", "3.1"),
        ("sdmx-json", "1.0"), ("sdmx-json", "2.0"), ("sdmx-json", "2.1"),
    )  # fmt: skip
    wanted = ("Dataflow=", "DataStructure=")
    return [
        one for one in found
        if one.values[0] is None or any(name in one.values[0]["maintainables_by_type"] for name in wanted)
    ]  # fmt: skip


@pytest.mark.parametrize("row", files())
def test_each_real_structure_resolves_or_lists_its_missing_parts(row: dict[str, str]) -> None:
    """Each dataflow and data structure resolves with the lists of its components, or everything missing is reported.

    A part reported as missing is not in the file, is a stub there, or extends something that is not there.
    """
    try:
        parts = split_message(data_of(row))
    except (MessageError, UnreadableContentError):
        pytest.skip("it is among those that cannot be read: see test_corpus")
    structures = Structures(FakeSnapshot.of(parts))
    for cls in ("Dataflow", "DataStructure", "ProvisionAgreement"):
        for urn in structures.find(cls):
            check_resolved(structures, urn)


def check_resolved(structures: Structures, urn: Urn) -> None:
    """Check the resolution of one artefact."""
    missing: tuple[object, ...] = ()
    found: ResolvedStructure | None = None
    try:
        found = structures.resolve(urn)
    except IncompleteStructureError as error:
        missing = error.missing
    if found is None:
        assert missing
        for one in missing:
            assert isinstance(one, MissingReference)
            is_there = one.target is not None and one.target in structures
            assert not is_there or "stub" in one.reason or "expanding" in one.reason
        return
    assert len(found.components) == len(found.data_structure.components)
    for component, enumeration in structures.components(found.data_structure):
        listed = found.components[component.id].enumeration
        assert (listed and listed.urn) == (enumeration and structures.get(enumeration).urn)


def one_file(ending: str) -> list[Any]:
    """Return the file of the corpus with this ending."""
    return [file for file in files() if file.values[0] is None or file.values[0]["file"].endswith(ending)]


@pytest.mark.parametrize("row", one_file("ECB_EXR__1__structure-full.xml"))
def test_a_real_dataflow_has_the_parts_counted_by_hand(row: dict[str, str]) -> None:
    """A real dataflow of 2.1 has the components, lists and constraint counted by hand."""
    found = Structures(FakeSnapshot.of(split_message(data_of(row)))).resolve("ECB:EXR(1.0)")
    assert (len(found.components), len(found.dimensions)) == (31, 6)
    assert len([component for component in found.components.values() if component.enumeration is not None]) == 14
    assert (len(found.components["CURRENCY"].listed_ids() or ()), found.missing) == (355, ())
    assert len(found.components["CURRENCY"].allowed_ids() or ()) == 58
    assert applied(found) == [("EXR_CONSTRAINTS", "1.0", "dataflow")]


@pytest.mark.thorough
def test_many_threads_resolve_at_once() -> None:
    """Threads that resolve at once get equal results: lists and constraints are indexed once."""
    structures = structures_of(sample(), CONSTRAINTS)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: structures.resolve(AGREEMENT), range(32)))
    assert all(one == found[0] for one in found)
    assert len(applied(found[0])) == 9
