"""References in one version: parents and children, version rules in look-ups, and dangling references."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_replica.records import Record
from kafka_replica.sdmx import Structures, Urn, read_message, split_message
from kafka_replica.sdmx.errors import ArtefactNotFoundError, MessageError
from kafka_replica.sdmx.lookups import decoding as module
from kafka_replica.sdmx.lookups.cache import DecodeCache
from kafka_replica.sdmx.lookups.items import has_items, item_of
from kafka_replica.sdmx.lookups.references import DanglingReference, references_of
from kafka_replica.sdmx.model import Concept, Metadataflow, MetadataProvisionAgreement, MetadataSet
from kafka_replica.sdmx.samples import sample_files
from support.effort import examples
from support.sdmx.sdmx_corpus import FakeSnapshot, record
from support.sdmx.sdmx_json_samples import CODELIST, CONCEPT, FLOW, SAMPLE, URN, artefact, message, named


def structures_of(data: dict[str, Any]) -> Structures:
    """Return look-ups in a version of these artefacts."""
    return Structures(FakeSnapshot.of(split_message(message(data))))


def codelists(*versions: str, id_: str = "CL") -> list[dict[str, Any]]:
    """Return a codelist in several versions."""
    return [artefact(id_, version=version, codes=[named("A")]) for version in versions]


def names(urns: Any) -> list[str]:
    """Return the ids and versions of URNs."""
    return [f"{urn.id}({urn.version})" for urn in urns]


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("1.0+", ["CL(1.10.0)", "CL2(1.0)"]),
        ("1+.0.0", ["CL(2.0.0)", "CL2(1.0)"]),
        ("1.0.0+", ["CL(1.0.1)", "CL2(1.0)"]),
        ("1.9+.0", ["CL(1.10.0)"]),
        ("+", ["CL(2.0.0)", "CL2(1.0)"]),
        ("~", ["CL(3.0.0-draft)", "CL2(1.0)"]),
        ("3.0.0-draft", ["CL(3.0.0-draft)"]),
        ("1.0", ["CL2(1.0)"]),
        ("1.1*", ["CL(1.10.0)"]),
        ("9+", []),
    ],
)
def test_find_by_a_rule(rule: str, expected: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule finds each artefact once, in the newest version that fits, without decoding; text patterns still work."""
    lists = codelists("1.0.0", "1.0.1", "1.10.0", "1.9.0", "2.0.0", "3.0.0-draft") + codelists("1.0", id_="CL2")
    found = structures_of({"codelists": lists})
    monkeypatch.setattr(module, "read_message", None)
    assert names(found.find(cls="Codelist", version=rule)) == expected
    assert len(found.find(version="*")) == 7


def test_the_newest_version_is_found() -> None:
    """The newest version of an artefact is found, drafts only on request."""
    found = structures_of({"codelists": codelists("1.0.0", "1.10.0", "2.0.0-draft")})
    assert found.latest(f"{URN}codelist.Codelist=A:CL(1.0.0)").version == "1.10.0"
    assert found.latest(Urn.of("Code", "A", "CL", "7.7", "A"), stable=False).version == "2.0.0-draft"
    with pytest.raises(ArtefactNotFoundError, match="no artefact has this id"):
        found.latest(f"{URN}codelist.Codelist=A:NONE(1.0.0)")
    drafts = structures_of({"codelists": codelists("2.0.0-draft")})
    with pytest.raises(ArtefactNotFoundError, match=r"2\.0\.0-draft"):
        drafts.latest(f"{URN}codelist.Codelist=A:CL(1.0.0)")


def test_a_reference_with_a_rule_is_followed() -> None:
    """An item, and a child, are found in the newest version that fits the reference's rule."""
    concepts = [{"id": "C", "coreRepresentation": {"enumeration": f"{URN}codelist.Codelist=A:CL(1.0+.0)"}}]
    data = {
        "codelists": codelists("1.0.0", "1.10.0", "2.0.0"),
        "conceptSchemes": [artefact("CS", concepts=concepts), artefact("CS", version="2.0.0", concepts=concepts)],
    }
    found = structures_of(data)
    code = found.get(f"{URN}codelist.Code=A:CL(1.0+.0).A")
    assert str(code.urn) == f"{URN}codelist.Code=A:CL(1.10.0).A"
    assert names(found.children(f"{URN}conceptscheme.ConceptScheme=A:CS(1.0.0)")) == ["CL(1.10.0)"]
    assert names(found.children(f"{URN}conceptscheme.ConceptScheme=A:CS(1+.0.0)")) == ["CL(1.10.0)"]
    assert names(found.parents(f"{URN}codelist.Codelist=A:CL(1.0+.0)")) == ["CS(1.0.0)", "CS(2.0.0)"]
    assert found.parents(f"{URN}codelist.Codelist=A:CL(2.0.0)") == ()
    assert found.dangling_references() == ()


def test_descendants_of_a_dataflow_are_complete() -> None:
    """A dataflow's descendants are its structure, the concepts and the lists; nothing dangles."""
    parts = [part for path in sample_files() for part in split_message(path.read_bytes())]
    found = Structures(FakeSnapshot.of(parts))
    flow = Urn.of("Dataflow", "KR_DEMO", "LABOUR", "1.0")
    reached = found.descendants(flow)
    assert names(reached[:1]) == ["DSD_LABOUR(1.0)"] == names(found.children(flow))
    assert {"CS_LABOUR(1.0)", "CL_FREQ(2.1)", "CL_OBS_STATUS(1.0)"} <= set(names(reached))
    assert len(reached) == len(set(reached))
    assert flow in found.parents(Urn.of("DataStructure", "KR_DEMO", "DSD_LABOUR", "1.0"))
    assert found.dangling_references() == ()


def test_references_of_every_class() -> None:
    """Exactly the references written in the sample of SDMX-JSON are found, for each class."""
    expected = {
        "DF": {"DSD"}, "CAT": {"DF", "CATS"}, "PA": {"DF", "DATA_PROVIDERS"}, "CON": {"DF"}, "H": {"CL"},
        "HA": {"H", "CL", "DF"}, "SM": {"DSD", "DF", "RM"}, "RM": {"CL"}, "CSM": {"CS", "CS2"}, "MDF": {"MSD"},
        "MPA": {"MDF", "METADATA_PROVIDERS"}, "MCON": {"MDF"}, "PR": {"DF", "DSD"}, "TS": {"VMS", "RS"},
        "VMS": {"DF", "CL", "CS"}, "RT": {"DSD", "DF"}, "MSD": {"CS"}, "DSD": {"MSD", "CS", "CL"}, "CS": {"CL"},
        "CL": {"CL"}, "VL": set(), "AGENCIES": set(), "CTS": set(),
    }  # fmt: skip
    found = {one.urn.id: {urn.id for urn in references_of(one)} for one in read_message(message(SAMPLE))}
    assert {id_: found[id_] for id_ in expected} == expected


@pytest.mark.parametrize("kind", [Metadataflow, MetadataProvisionAgreement, MetadataSet])
def test_targets_of_metadata_without_wildcards_are_references(
    kind: type[Metadataflow | MetadataProvisionAgreement | MetadataSet],
) -> None:
    """Metadata is attached to them; a target with a wildcard in agency or id, or in another form, names no artefact."""
    texts = [f"{URN}datastructure.Dataflow={name}" for name in ("A:DF(1.0)", "A:*(1.0)", "*:DF(1.0)", "A:DF2(2.0+)")]
    own = Urn.of(kind.__name__, "A", "M", "1.0")
    made = kind(urn=own, targets=(*texts, "x"))
    assert names(references_of(made)) == ["DF(1.0)", "DF2(2.0+)"]


def test_targets_of_metadata_in_any_version_are_all_versions() -> None:
    """In what metadata is attached to, ``*`` means every version, drafts too; in other references, the newest."""
    flows, code = f"{URN}datastructure.Dataflow=A:DF", f"{URN}codelist.Code=A:CL({{}}).A"
    found = structures_of({
        "dataflows": [artefact("DF", version=one, structure=f"{URN}datastructure.DataStructure=A:DSD(1.0.0)")
                      for one in ("1.0.0", "1.1.0", "2.0.0-draft")],
        "codelists": [*codelists("1.0.0", "1.1.0"), listing("EXT", "1.0.0", ("CL", "*"))],
        "metadataflows": [artefact("MDF", structure=f"{URN}metadatastructure.MetadataStructure=A:MSD(1.0.0)",
                                   targets=[f"{flows}(*)", code.format("*")])],
    })  # fmt: skip
    flow = f"{URN}metadatastructure.Metadataflow=A:MDF(1.0.0)"
    assert names(found.children(flow)) == [
        "CL(1.0.0)", "CL(1.1.0)", "DF(1.0.0)", "DF(1.1.0)", "DF(2.0.0-draft)",
    ]  # fmt: skip
    for version in ("1.0.0", "1.1.0", "2.0.0-draft"):
        assert names(found.parents(f"{flows}({version})")) == ["MDF(1.0.0)"]
    for version in ("1.0.0", "1.1.0"):
        assert names(found.parents(code.format(version))) == ["MDF(1.0.0)"]
    assert names(found.parents(f"{URN}codelist.Codelist=A:CL(1.0.0)")) == ["MDF(1.0.0)"]
    assert names(found.parents(f"{URN}codelist.Codelist=A:CL(1.1.0)")) == ["EXT(1.0.0)", "MDF(1.0.0)"]


def test_references_to_an_artefact_and_to_an_item_of_the_same_class() -> None:
    """A hierarchy is an artefact in 3.x and an item in 2.1; references to both can be sorted."""
    whole, part = (f"{URN}codelist.Hierarchy=A:H(1.0){tail}" for tail in ("", ".X"))
    step = named("S", inputs=[{"objectReference": one} for one in (part, whole)])
    found = structures_of({"codelists": codelists("1.0.0"), "processes": [artefact("PR", processSteps=[step])]})
    assert found.parents(f"{URN}codelist.Codelist=A:CL(1.0.0)") == ()
    assert [str(one.target) for one in found.dangling_references()] == [whole, part]
    assert found.unreadable_records() == {}


def listing(id_: str, version: str, target: tuple[str, str] | None) -> dict[str, Any]:
    """Return a codelist that may extend another."""
    refers = [{"codelist": f"{URN}codelist.Codelist=A:{target[0]}({target[1]})"}] if target else []
    return artefact(id_, version=version, codelistExtensions=refers)


IDS = st.sampled_from(["X", "Y", "Z"])
VERSIONS = st.sampled_from(["1.0.0", "1.1.0", "2.0.0", "2.0.0-draft"])
TARGETS = st.none() | st.tuples(IDS, VERSIONS | st.sampled_from(["1.0+.0", "1+.0.0", "*"]))
CHANGES = st.lists(st.tuples(IDS, VERSIONS, TARGETS, st.booleans()), max_size=4)


@pytest.mark.thorough
@settings(max_examples=examples(150), deadline=None)
@given(st.lists(CHANGES, max_size=5))
def test_the_index_is_kept_from_version_to_version(versions: list[list[tuple[Any, ...]]]) -> None:
    """After any changes the index answers as a fresh one, and the older version still gives its own answers."""
    records: dict[bytes, Record] = {}
    kept = Structures(FakeSnapshot(records, 0))
    kept.dangling_references()
    for number, changes in enumerate(versions, start=1):
        records, changed = dict(records), []
        for id_, version, target, is_deleted in changes:
            [part] = split_message(message({"codelists": [listing(id_, version, target)]}))
            key = bytes(part.urn)
            changed.append(key)
            records.pop(key, None)
            if not is_deleted:
                records[key] = record(key, part.value, part.content_type)
        older, answers = kept, family(kept)
        kept = kept.moved_to(FakeSnapshot(records, number), [*changed, b"not a urn"])
        assert family(kept) == family(Structures(FakeSnapshot(records, number)))
        assert family(older) == answers
        assert family(kept) == family(Structures(FakeSnapshot(records, number)))


def family(structures: Structures) -> Any:
    """Return the answers to all queries about the references of a version."""
    queried = [
        (urn, structures.parents(urn), structures.children(urn), structures.descendants(urn), structures.ancestors(urn))
        for urn in structures
    ]
    return queried, structures.dangling_references()


def test_refreshing_decodes_only_changed_artefacts(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a change of one artefact among a hundred, one artefact is decoded."""
    lists = [listing(f"L{i}", "1.0.0", ("L0", "1.0.0") if i else None) for i in range(100)]
    snapshot = FakeSnapshot.of(split_message(message({"codelists": lists})))
    first = Structures(snapshot, cache=DecodeCache())
    assert len(first.parents(f"{URN}codelist.Codelist=A:L0(1.0.0)")) == 99
    calls: list[int] = []
    real = read_message
    monkeypatch.setattr(module, "read_message", lambda *given, **options: calls.append(1) or real(*given, **options))
    key = f"{URN}codelist.Codelist=A:L5(1.0.0)"
    [part] = split_message(message({"codelists": [listing("L5", "1.0.0", ("L1", "1.0.0"))]}))
    records = snapshot.records | {key.encode(): record(key.encode(), part.value, part.content_type)}
    second = first.moved_to(FakeSnapshot(records, 8), [key])
    assert len(second.parents(f"{URN}codelist.Codelist=A:L0(1.0.0)")) == 98
    assert names(second.parents(f"{URN}codelist.Codelist=A:L1(1.0.0)")) == ["L5(1.0.0)"]
    assert (second.version, len(calls)) == (8, 1)


def test_missing_artefacts_and_items_are_dangling() -> None:
    """Missing artefacts and items are reported as dangling, but not artefacts that may be elsewhere."""
    data = {
        "codelists": [
            artefact("FULL", codes=[named("A")]),
            artefact("PART", isPartial=True, codes=[named("A")]),
            artefact("STUB", isExternalReference=True),
            artefact("EXT", codelistExtensions=[{"codelist": f"{URN}codelist.Codelist=A:FULL(1.0.0)"}]),
        ],
        "hierarchies": [
            artefact("H", hierarchicalCodes=[
                {"id": f"X{at}", "code": f"{URN}codelist.Code=A:{name}(1.0.0).{code}"}
                for at, (name, code) in enumerate(
                    [("FULL", "A"), ("FULL", "B"), ("PART", "B"), ("STUB", "B"), ("EXT", "B"), ("NONE", "A")])
            ])
        ],
        "categorisations": [
            artefact("C", source=f"{URN}codelist.Codelist=A:FULL(2.0+.0)",
                     target=f"{URN}categoryscheme.Category=A:S(1.0).X")
        ],
    }  # fmt: skip
    found = structures_of(data).dangling_references()
    assert [(one.source.id, str(one.target).partition("=")[2]) for one in found] == [
        ("C", "A:S(1.0).X"), ("C", "A:FULL(2.0+.0)"), ("H", "A:FULL(1.0.0).B"), ("H", "A:NONE(1.0.0).A"),
    ]  # fmt: skip
    assert isinstance(found[0], DanglingReference)


def test_a_rule_in_a_draft_means_drafts_too() -> None:
    """A rule in a draft includes drafts, in queries, expansion, representations and resolution, otherwise not."""
    rule = f"{URN}codelist.Codelist=A:CL(1.0+.0)"
    concept = f"{URN}conceptscheme.Concept=A:CS(VERSION).C"
    lists = [
        artefact("CL", version="1.0.0", codes=[named("A")]), artefact("CL", version="1.1.0-draft", codes=[named("B")]),
    ]  # fmt: skip
    versions = ("1.0.0", "2.0.0-draft")
    data = {
        "codelists": lists + [
            artefact("EXT", version=one, codelistExtensions=[{"codelist": rule}]) for one in versions],
        "conceptSchemes": [artefact("CS", version=one, concepts=[
            {"id": "C", "coreRepresentation": {"enumeration": rule}}]) for one in versions],
        "dataStructures": [artefact("DSD", version=one, dataStructureComponents={"dimensionList": {
            "id": "X", "dimensions": [{"id": "D", "conceptIdentity": concept.replace("VERSION", one)}],
        }}) for one in versions],
    }  # fmt: skip
    found = structures_of(data)
    for version, code in zip(versions, "AB", strict=True):
        scheme = f"{URN}conceptscheme.ConceptScheme=A:CS({version})"
        [meant] = found.children(scheme)
        assert list(found.codelist(meant).codes) == [code]
        assert found.children(scheme.replace("ConceptScheme=", "Concept=") + ".C") == (meant,)
        assert Urn.parse(scheme) in found.parents(meant)
        assert list(found.expand(f"A:EXT({version})").codes) == [code]
        structure = f"{URN}datastructure.DataStructure=A:DSD({version})"
        assert found.resolve(structure).components["D"].listed_ids() == {code}
        [(_, enumeration)] = found.components(structure)
        assert enumeration is not None
        assert list(found.codelist(enumeration).codes) == [code]
    assert found.dangling_references() == ()


def test_circles_do_no_harm() -> None:
    """Two lists that extend each other are each other's descendants, once."""
    lists = [
        artefact(one, codelistExtensions=[{"codelist": f"{URN}codelist.Codelist=A:{other}(1.0.0)"}])
        for one, other in (("X", "Y"), ("Y", "X"))
    ]
    found = structures_of({"codelists": lists})
    assert names(found.descendants(f"{URN}codelist.Codelist=A:X(1.0.0)")) == ["Y(1.0.0)"]


def test_a_record_that_cannot_be_read_does_not_stop_queries() -> None:
    """Every query answers from the readable records, and lists each unreadable one with its place in the log."""
    snapshot = FakeSnapshot.of(split_message(message({"codelists": [
        listing("L0", "1.0.0", None), listing("L1", "1.0.0", ("L0", "1.0.0")), listing("L2", "1.0.0", ("L1", "1.0.0")),
        listing("L3", "1.0.0", ("NONE", "1.0.0")), listing("BAD", "1.0.0", ("L0", "1.0.0"))]})))  # fmt: skip
    key = f"{URN}codelist.Codelist=A:BAD(1.0.0)"
    record_ = snapshot.records[key.encode()]
    snapshot.records[key.encode()] = record_.replace(value=b"{broken")
    good = Structures(FakeSnapshot.of([]))
    good.dangling_references()
    for found in (Structures(snapshot), good.moved_to(snapshot, list(snapshot.records))):
        first, last = f"{URN}codelist.Codelist=A:L0(1.0.0)", f"{URN}codelist.Codelist=A:L2(1.0.0)"
        answers: list[Any] = [
            found.parents(first), found.ancestors(first), found.children(last), found.descendants(last),
            found.dangling_references(), found.children(key), found.parents(key),
        ]  # fmt: skip
        assert [[getattr(one, "id", None) or one.target.id for one in answer] for answer in answers] == [
            ["L1"], ["L1", "L2"], ["L1"], ["L1", "L0"], ["NONE"], [], []]  # fmt: skip
        for answer in answers:
            [(urn, error)] = answer.unreadable.items()
            assert (str(urn), answer.is_complete) == (key, False)
            assert isinstance(error, MessageError)
            assert "structures-3, offset 4, key" in str(error)
            assert "1 unreadable" in repr(answer)
            assert pickle.loads(pickle.dumps(answer)) == answer
        assert found.unreadable_records().keys() == answers[0].unreadable.keys()
        snapshot_of_good = FakeSnapshot(snapshot.records | {key.encode(): record_}, 8)
        mended = found.moved_to(snapshot_of_good, [key])
        assert names(mended.parents(first)) == ["BAD(1.0.0)", "L1(1.0.0)"]
        assert mended.parents(first).is_complete
        assert repr(mended.parents(first)) == repr(tuple(mended.parents(first)))


def test_unreadable_constraints_are_listed_with_the_readable_ones() -> None:
    """Unreadable constraints are listed with the readable ones, and so is a record that may contain a constraint."""
    data = {"dataConstraints": [
        artefact(one, role="Allowed", constraintAttachment={"dataflows": [FLOW]}) for one in ("GOOD", "BAD")
    ]}  # fmt: skip
    flow = artefact("DF", structure=f"{URN}datastructure.DataStructure=A:DSD(1.0.0)")
    snapshot = FakeSnapshot.of(split_message(message(data | {"dataflows": [flow]})))
    mended = dict(snapshot.records)
    bad = f"{URN}registry.DataConstraint=A:BAD(1.0.0)".encode()
    snapshot.records[bad] = snapshot.records[bad].replace(value=b"{broken")
    found = Structures(snapshot).constraints_of(FLOW)
    assert [one.id for one in found] == ["GOOD"]
    assert [one.id for one in found.unreadable] == ["BAD"]
    snapshot.records[FLOW.encode()] = snapshot.records[FLOW.encode()].replace(value=b"{broken")
    found = Structures(snapshot).constraints_of(FLOW)
    assert [one.id for one in found] == ["GOOD"]
    assert [one.id for one in found.unreadable] == ["DF", "BAD"]
    assert Structures(snapshot).hierarchies_of(FLOW) == ()
    first = Structures(snapshot)
    assert not first.constraints_of(FLOW).is_complete
    second = first.moved_to(FakeSnapshot(mended, 8), [FLOW, bad.decode()])
    assert [one.id for one in second.constraints_of(FLOW)] == ["BAD", "GOOD"]
    assert second.constraints_of(FLOW).is_complete


def test_unknown_artefacts_are_refused() -> None:
    """A query about the references of a missing artefact raises."""
    found = structures_of({"codelists": codelists("1.0.0")})
    for ask in (found.children, found.parents, found.descendants, found.ancestors):
        with pytest.raises(ArtefactNotFoundError):
            ask(CODELIST)


def test_items_of_every_class() -> None:
    """Items of all schemes are found by their path, and missing items are not."""
    held = {one.urn.id: one for one in read_message(message(SAMPLE))}
    for artefact_id, class_, path in [
        ("CATS", "Category", "ONE.TWO.X"), ("H", "HierarchicalCode", "ONE.TWO"), ("H", "Level", "L1.L2"),
        ("PR", "ProcessStep", "S1.S2"), ("MSD", "MetadataAttribute", "CONTACT.NAME"),
        ("VMS", "VtlDataflowMapping", "V1"),
        ("DSD", "DimensionDescriptor", "DimensionDescriptor"), ("DSD", "GroupDimensionDescriptor", "G"),
        ("DSD", "DataAttribute", "A1"), ("DATA_PROVIDERS", "DataProvider", "P"), ("CS", "Concept", "FREQ.SUB"),
    ]:  # fmt: skip
        found = item_of(held[artefact_id], class_, path)
        assert found is not None, path
        assert found.urn.cls == class_
        if "Descriptor" not in class_ or class_ == "GroupDimensionDescriptor":
            assert item_of(held[artefact_id], class_, path + "X") is None
    assert not has_items(held["RM"])
    assert item_of(held["RM"], "X", "X") is None
    concept = Structures(FakeSnapshot.of(split_message(message(SAMPLE)))).get(CONCEPT + "FREQ")
    assert isinstance(concept, Concept)
    assert concept.id == "FREQ"
