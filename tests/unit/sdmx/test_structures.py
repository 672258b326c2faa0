"""Look-ups in a single version."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from kafka_replica.sdmx import Code, Codelist, Concept, Dimension, Structures, Urn, read_message, split_message
from kafka_replica.sdmx.errors import ArtefactNotFoundError, MessageError, UrnError
from kafka_replica.sdmx.lookups import decoding as module
from kafka_replica.sdmx.lookups.cache import DecodeCache
from kafka_replica.sdmx.model import Agency, ContentConstraint, GeoGridCodelist
from kafka_replica.sdmx.samples import sample_files
from support.sdmx.ml_messages_by_hand import codelist_xml, xml
from support.sdmx.sdmx_corpus import FakeSnapshot, record


@pytest.fixture
def snapshot() -> FakeSnapshot:
    """The samples as a version, with additional keys that are not URNs."""
    parts = [part for path in sample_files() for part in split_message(path.read_bytes())]
    made = FakeSnapshot.of(parts)
    made.records[b"not a urn"] = record(b"not a urn", b"x")
    made.records[b"\xff\xfe"] = record(b"\xff\xfe", b"x")
    return made


@pytest.fixture
def structures(snapshot: FakeSnapshot) -> Structures:
    """Look-ups in the version."""
    return Structures(snapshot)


def urn(class_: str, reference: str) -> Urn:
    """Return a URN in short."""
    return Urn.of_reference(class_, reference)


def test_artefacts_are_found_by_reference_text_and_urn(structures: Structures) -> None:
    """Artefacts are found by reference, text and URN, as the same object each time; the version is the snapshot's."""
    freq = structures.codelist("SDMX:CL_FREQ(2.1)")
    assert freq.codes["A"].name("en") == "Annual"
    assert structures.get(str(freq.urn)) is freq
    assert structures.get(freq.urn) is freq
    assert structures.codelist(freq.urn) is freq
    assert structures.version == 7
    assert structures.dataflow("KR_DEMO:LABOUR(1.0)").structure == urn("DataStructure", "KR_DEMO:DSD_LABOUR(1.0)")
    assert len(structures.concept_scheme("KR_DEMO:CS_LABOUR(1.0)").concepts) == 9
    assert len(structures) == 15
    assert freq.urn in structures
    assert "urn:sdmx:org.sdmx.infomodel.codelist.Codelist=SDMX:CL_FREQ(9.9)" not in structures
    assert "not a urn" not in structures
    assert b"not a urn" not in structures


def test_a_urn_with_an_item_gives_the_item(structures: Structures) -> None:
    """The look-up of a URN with an item returns the item, and an unknown item is an error."""
    assert isinstance(structures.get(urn("Code", "SDMX:CL_FREQ(2.1).A")), Code)
    assert isinstance(structures.get(urn("Concept", "KR_DEMO:CS_LABOUR(1.0).SEX")), Concept)
    assert isinstance(structures.get(urn("Dimension", "KR_DEMO:DSD_LABOUR(1.0).SEX")), Dimension)
    group = structures.get(urn("GroupDimensionDescriptor", "KR_DEMO:DSD_LABOUR(1.0).Sibling"))
    assert group.urn.cls == "GroupDimensionDescriptor"
    with pytest.raises(ArtefactNotFoundError, match="has no Code 'X'"):
        structures.get(urn("Code", "SDMX:CL_FREQ(2.1).X"))
    agency = structures.get(urn("Agency", "SDMX:AGENCIES(1.0).KR_DEMO"))
    assert isinstance(agency, Agency)
    assert (agency.id, agency.urn.cls) == ("KR_DEMO", "Agency")


def test_every_reference_of_the_samples_resolves(structures: Structures) -> None:
    """Concepts, parents, codelists and data structures that the samples refer to are in the samples."""
    for structure in structures:
        artefact: Any = structures.get(structure)
        if isinstance(artefact, Codelist):
            assert all(code.parent is None or code.parent in artefact.codes for code in artefact.codes.values())
        elif structure.cls == "Dataflow":
            structures.data_structure(artefact.structure)
        elif structure.cls == "DataStructure":
            for component, enumeration in structures.components(artefact):
                assert isinstance(structures.get(component.concept or ""), Concept)
                assert enumeration is None or structures.codelist(enumeration).codes
            assert all(name in artefact.dimensions for group in artefact.groups.values() for name in group.dimensions)


def test_a_local_list_counts_before_that_of_the_concept(structures: Structures) -> None:
    """A local list counts, then the concept's; a local format makes the component uncoded."""
    found = {
        component.component.id: component.enumeration for component in structures.components("KR_DEMO:DSD_LABOUR(1.0)")
    }
    assert found["FREQ"] == urn("Codelist", "SDMX:CL_FREQ(2.1)")
    assert found["OBS_STATUS"] == urn("Codelist", "KR_DEMO:CL_OBS_STATUS(1.0)")  # the concept's list
    assert found["TIME_PERIOD"] is None
    assert found["DECIMALS"] is None


def test_wildcards_find_artefacts_without_decoding(structures: Structures, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wildcards in class, agency, id and version find artefacts without decoding them."""
    monkeypatch.setattr(module, "read_message", _never)
    assert len(structures.find(cls="Codelist")) == 8
    assert [str(one.id) for one in structures.find(cls="Codelist", agency="SDMX")] == ["CL_FREQ"]
    assert [one.id for one in structures.find(id="CL_*O*", version="1.0")] == ["CL_INDICATOR", "CL_OBS_STATUS"]
    assert structures.find(id="cl_freq") == []
    assert structures.find(id="CL.FREQ") == []
    assert len(structures.find()) == 15


def _never(*_: object, **__: object) -> None:
    raise AssertionError("decoded before it was asked for")


def test_the_error_for_a_missing_artefact_suggests_similar_ones(structures: Structures) -> None:
    """The error for a missing artefact has the version and similar artefacts."""
    with pytest.raises(ArtefactNotFoundError, match=r"not in version 7; it exists in version 2\.1"):
        structures.codelist("SDMX:CL_FREQ(3.0)")
    with pytest.raises(ArtefactNotFoundError, match=r"there is urn:.*KR_DEMO:CL_SEX\(1\.0\)"):
        structures.codelist("SDMX:CL_SEX(1.0)")
    with pytest.raises(ArtefactNotFoundError, match="no artefact has this id"):
        structures.get(urn("Code", "SDMX:CL_NOTHING(1.0).A"))
    with pytest.raises(UrnError, match="names a Codelist"):
        structures.dataflow(urn("Codelist", "SDMX:CL_FREQ(2.1)"))
    with pytest.raises(UrnError):
        structures.codelist("CL_FREQ")


def test_a_version_with_a_wildcard_is_the_newest_that_matches() -> None:
    """A version with a wildcard means the newest that fits."""
    parts = [
        part
        for version in ("1.0.0", "1.2.0", "1.10.0", "2.0.0-draft")
        for part in split_message(codelist_xml("").replace(b'"1.0"', f'"{version}"'.encode()))
    ]
    structures = Structures(FakeSnapshot.of(parts))
    assert structures.codelist("A:CL(1.0+.0)").version == "1.10.0"
    assert structures.codelist("A:CL(*)").version == "1.10.0"
    assert structures.codelist("A:CL(+)").version == "1.10.0"
    assert structures.codelist("A:CL(~)").version == "2.0.0-draft"
    assert structures.get("urn:sdmx:org.sdmx.infomodel.codelist.Codelist=A:CL(~)").urn.version == "2.0.0-draft"
    assert "urn:sdmx:org.sdmx.infomodel.codelist.Codelist=A:CL(+)" in structures
    with pytest.raises(ArtefactNotFoundError):
        structures.codelist("A:CL(2+.0.0)")


def test_decoded_once_among_threads(snapshot: FakeSnapshot, monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight threads that access an artefact at once get one object, decoded once."""
    calls = []
    real: Callable[..., Any] = read_message
    monkeypatch.setattr(module, "read_message", lambda *given, **options: calls.append(1) or real(*given, **options))
    structures = Structures(snapshot, cache=DecodeCache())
    gate = threading.Barrier(8)
    found: list[object] = []

    def ask() -> None:
        gate.wait()
        found.append(structures.codelist("SDMX:CL_FREQ(2.1)"))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(calls) == 1
    assert len(found) == 8
    assert all(one is found[0] for one in found)


FREQ = b"urn:sdmx:org.sdmx.infomodel.codelist.Codelist=SDMX:CL_FREQ(2.1)"


@pytest.mark.parametrize(
    ("value", "error", "reason"),
    [
        (b"<broken", MessageError, "line 1"),
        (codelist_xml(""), MessageError, r"key disagrees with the content, which holds urn:.*A:CL\(1\.0\)"),
        (b"UNA:+.? '", MessageError, "SDMX-EDI"),
        (None, ArtefactNotFoundError, "not in version"),
    ],
)
def test_errors_name_the_record(value: bytes | None, error: type[Exception], reason: str) -> None:
    """The error for unreadable content names topic, partition, offset and key, on each access."""
    structures = Structures(FakeSnapshot({FREQ: record(FREQ, value, offset=42)}))
    for _ in range(2):
        with pytest.raises(error, match=reason) as caught:
            structures.codelist("SDMX:CL_FREQ(2.1)")
        if value is not None:
            assert "structures-3, offset 42, key b'urn:sdmx" in str(caught.value)


def test_a_record_with_several_artefacts() -> None:
    """A record with several artefacts gives the artefact of its key."""
    whole = xml(
        '<s:Codelists><s:Codelist id="X" agencyID="A"/><s:Codelist id="CL_FREQ" agencyID="SDMX" version="2.1">'
        '<s:Code id="A"/></s:Codelist></s:Codelists>'
    )
    structures = Structures(FakeSnapshot({FREQ: record(FREQ, whole)}))
    assert list(structures.codelist("SDMX:CL_FREQ(2.1)").codes) == ["A"]


def test_other_names_of_a_class() -> None:
    """A geographic codelist is found as a codelist, and a constraint under both its names."""
    parts = split_message(
        xml(
            '<s:GeoGridCodelists><s:GeoGridCodelist id="G" agencyID="A"/></s:GeoGridCodelists>'
            '<s:Constraints><s:ContentConstraint id="C" agencyID="A"/></s:Constraints>'
        )
    )
    structures = Structures(FakeSnapshot.of(parts))
    assert isinstance(structures.get(urn("Codelist", "A:G(1.0)")), GeoGridCodelist)
    assert structures.codelist("A:G(1.0)").urn.cls == "GeoGridCodelist"
    assert isinstance(structures.get(urn("DataConstraint", "A:C(1.0)")), ContentConstraint)
