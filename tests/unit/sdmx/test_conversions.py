"""Content of a valid message is written as a valid message in every format, or refused.

Samples made from the schemas of all editions, and random artefacts, go through every writer and every schema; the files
of the corpus do so in test_writing_corpus.py. ``make long`` tests many more of them.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

import pytest
from hypothesis import HealthCheck, given, settings

from kafka_replica.sdmx import Header, InternationalString, read_message
from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.formats.shared.writing.conversion import as_representable_in
from kafka_replica.sdmx.messages.format import Format
from kafka_replica.sdmx.model import Artefact, Codelist
from kafka_replica.sdmx.urns.urn import Urn
from kafka_replica.sdmx.writing.messages import write_message
from support.effort import examples, first_in_usual, usual_or_long
from support.sdmx.conversions import FORMATS, JSON, ML, faults_by_format, read, schema_faults, valid_samples
from support.sdmx.sdmx_variations import varied

pytestmark = pytest.mark.thorough

LEAST: Final = 0.1
"""The least share of samples that are written: refusing everything would be valid, too."""

_NEWEST: Final = (Format.SDMX_ML_3_1, Format.SDMX_JSON_2_1)
SOURCES: Final = [*_NEWEST, *(one for one in [*ML, *JSON] if one not in _NEWEST)]


@pytest.mark.scaled
@pytest.mark.parametrize("source", first_in_usual(SOURCES, 1), ids=lambda one: one.title)
def test_schema_samples_become_valid_messages_in_every_format(source: Format) -> None:
    """Each class of each edition, with all that its schema allows and in parts, becomes valid in every other format."""
    counts: Counter[str] = Counter()
    for _, data in valid_samples(usual_or_long(2, 3, 12), formats={source}):
        for artefact in read(data):
            for format_, faults in faults_by_format(artefact).items():
                counts["refused" if faults is None else "written"] += format_ in {*ML, *JSON}
                assert not faults, f"{artefact.urn} of {source.title} as {format_.title}"
    assert counts["written"] > LEAST * counts.total(), counts


@pytest.mark.scaled
@given(varied())
@settings(max_examples=examples(25, long=50, proof=2000), deadline=None, suppress_health_check=list(HealthCheck))
def test_an_artefact_valid_in_one_format_is_valid_in_all(artefact: Artefact) -> None:
    """An artefact that is valid in one format is valid in all that can write it, and is read again."""
    found = {format_: faults for format_, faults in faults_by_format(artefact).items() if faults is not None}
    if any(not faults for format_, faults in found.items() if format_ in ML or format_ in JSON):
        assert {format_: faults for format_, faults in found.items() if faults} == {}
    for format_ in found:
        data = write_message(artefact, format_, verify=False)
        assert read_message(data).artefacts[artefact.urn] == as_representable_in(artefact, format_), format_


@pytest.mark.parametrize("format_", FORMATS, ids=lambda one: one.title)
@pytest.mark.parametrize(
    "header",
    [
        Header(),
        Header(id="M.1/2 ü", prepared="2020-01-01", sender="ME.SUB"),
        Header(id="1", prepared="2020-01-01T10:00:00", sender="1", test=True),
        Header(id="IREF1", prepared="991231:2359", sender="4F0"),
        Header(id="", prepared="yesterday", sender=""),
    ],
    ids=["empty", "odd ids", "no zone", "EDI", "no date"],
)
def test_the_header_of_another_format_becomes_valid(header: Header, format_: Format) -> None:
    """The id, date and sender of another format's header are written as the format's schema requires."""
    names = InternationalString([("en", "Name")])
    codes = read_message(b'{"Codelist":[{"id":"CL","agencyId":"ME","version":"1.0","items":[]}]}')
    [codelist] = [code for code in codes if isinstance(code, Codelist)]
    found = Codelist(urn=Urn.of("Codelist", "ME", "CL", "1.0"), names=names, codes=codelist.codes)
    try:
        data = write_message(found, format_, header)
    except UnwritableError:
        assert format_ in {Format.EDI, Format.XLSX}
        return
    assert schema_faults(format_, data) == []


def flow_of_2_0(urn: str) -> Artefact:
    """Return the metadataflow of a valid message of 2.0 that refers to its structure by this URN."""
    namespace = "http://www.SDMX.org/resources/SDMXML/schemas/v2_0"
    data = (
        f'<Structure xmlns="{namespace}/message" xmlns:s="{namespace}/structure"><Header><ID>M</ID><Test>false</Test>'
        '<Prepared>2020-01-01T00:00:00Z</Prepared><Sender id="S"/></Header><Metadataflows>'
        '<s:Metadataflow id="F" agencyID="A"><s:Name>Flow</s:Name><s:MetadataStructureRef>'
        f"<s:URN>{urn}</s:URN></s:MetadataStructureRef></s:Metadataflow></Metadataflows></Structure>"
    ).encode()
    assert schema_faults(Format.SDMX_ML_2_0, data) == []
    [flow] = read_message(data)
    return flow


def test_a_reference_of_2_0_to_a_code_in_place_of_a_structure_is_refused_since_2_1() -> None:
    """The schema of 2.0 allows any URN; a format with a place for a structure alone refuses that of a code."""
    code = flow_of_2_0("urn:sdmx:org.sdmx.infomodel.codelist.Code=A:CL(1.0).X")
    assert [found for found in faults_by_format(code).values() if found] == []
    expected = (
        r"writing urn:\S+\.Metadataflow=A:F\(1\.0\) as SDMX-ML 2\.1: the reference to "
        r"urn:\S+=A:CL\(1\.0\)\.X names the item 'X', where .* MetadataStructure alone .*remove the item.*; choose \S+ "
    )
    with pytest.raises(UnwritableError, match=expected):
        write_message(code, Format.SDMX_ML_2_1)
    structure = flow_of_2_0("urn:sdmx:org.sdmx.infomodel.metadatastructure.MetadataStructure=A:MSD(1.0)")
    assert schema_faults(Format.SDMX_ML_2_1, write_message(structure, Format.SDMX_ML_2_1)) == []
