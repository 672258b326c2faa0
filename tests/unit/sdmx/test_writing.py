"""Written messages: media types, headers, bytes, and errors where a format cannot represent content."""

from __future__ import annotations

import io
import json
import sys
import zipfile

import pytest
from msgspec.structs import replace

from kafka_replica.errors import MissingExtraError
from kafka_replica.sdmx import (
    Annotation,
    Code,
    Codelist,
    Format,
    Header,
    InternationalString,
    Items,
    Link,
    OpaqueArtefact,
    Urn,
    explain_unwritable,
    media_types,
    read_message,
    write_message,
)
from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.model import (
    AttributeRelationship,
    DataStructure,
    MappedValue,
    MetadataAttributeUsage,
    RepresentationMap,
    RepresentationMapping,
    ValueList,
)
from kafka_replica.sdmx.samples import sample_files
from support.sdmx.conversions import schema_faults
from support.sdmx.sdmx_json_samples import SAMPLE, message

FREQ = Urn.of("Codelist", "SDMX", "CL_FREQ", "1.0")


def codelist(**more: object) -> Codelist:
    """Return a codelist of two codes in two languages."""
    names = {"A": {"en": "Annual", "fr": "Annuelle"}, "M": {"en": "Monthly & more <often>"}}
    codes = {
        id_: Code(urn=FREQ.with_item("Code", id_), names=InternationalString(texts)) for id_, texts in names.items()
    }
    return replace(
        Codelist(urn=FREQ, names=InternationalString({"en": "Frequency"}), codes=Items(codes)),
        **more,
    )


def mapping() -> RepresentationMap:
    """Return a map of codes to a value, with all features of the workbook layout."""
    urn = Urn.of("RepresentationMap", "AG", "FREQ_TO_TEXT", "1.0")
    rows = (
        RepresentationMapping(sources=(MappedValue(value="A"),), targets=("=1+1",), valid_from="2020-01-01"),
        RepresentationMapping(sources=(MappedValue(value="^M", is_reg_ex=True),), targets=("1.50",)),
        RepresentationMapping(sources=(MappedValue(value="Q", start_index=0, end_index=1),), targets=()),
    )
    return RepresentationMap(
        urn=urn, names=InternationalString({"en": "Frequencies"}), sources=(FREQ,), targets=("String",), mappings=rows
    )


@pytest.mark.parametrize("media_type", media_types())
def test_every_media_type_is_written_and_read(media_type: str) -> None:
    """Each listed media type can be written, and the result has that format."""
    artefact = mapping() if media_type == Format.XLSX else codelist()
    if media_type == Format.SDMX_ML_1_0:
        assert [one.urn for one in read_message(write_message(artefact, media_type))] == [artefact.urn]
    message = read_message(write_message(artefact, media_type))
    assert message.format == media_type
    assert list(message) == [artefact]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("application/vnd.sdmx.structure+xml;version=3.0", Format.SDMX_ML_3_0),
        ("application/vnd.sdmx.structure+xml; version=3.1", Format.SDMX_ML_3_1),
        ("application/vnd.sdmx.structure+xml", Format.SDMX_ML_2_1),
        ("application/vnd.sdmx.structure+json;version=2.1", Format.SDMX_JSON_2_1),
        ("APPLICATION/VND.FUSION.JSON", Format.FUSION_JSON),
        ("application/vnd.sdmx.structure+edi", Format.EDI),
    ],
)
def test_media_types_as_registries_spell_them(written: str, meant: Format) -> None:
    """Versions may be shorter, and blanks and capitals do not matter."""
    assert read_message(write_message(codelist(), written)).format is meant


def test_unknown_media_types_are_refused() -> None:
    """The error for an unknown media type lists the known ones."""
    for ask in (write_message, explain_unwritable):
        with pytest.raises(UnwritableError, match=r"'text/csv': this format cannot be written; choose one of .*fusion"):
            ask(codelist(), "text/csv")


@pytest.mark.parametrize("media_type", [each for each in media_types() if each != Format.XLSX])
def test_the_header_is_ours_to_set(media_type: str) -> None:
    """Id, sender, time and test flag are in the message; equal input gives equal bytes at any time."""
    header = Header(id="IREF1", sender="ECB", prepared="2026-11-21T20:00:00Z", test=True)
    data = write_message(codelist(), media_type, header)
    found = read_message(data).header
    assert (found.id, found.sender, found.test) == ("IREF1", "ECB", True)
    assert found.prepared == ("261121:2000" if media_type == Format.EDI else header.prepared)
    assert data == write_message(codelist(), media_type, header)
    assert data != write_message(codelist(), media_type)


def test_several_artefacts_keep_their_order_within_a_class() -> None:
    """A message contains all artefacts, in their order within each class."""
    artefacts = [artefact for path in sample_files() for artefact in read_message(path.read_bytes())]
    for media_type in (Format.SDMX_ML_3_0, Format.SDMX_JSON_2_0, Format.FUSION_JSON):
        found = [one.urn for one in read_message(write_message(artefacts, media_type))]
        assert sorted(found) == sorted(each.urn for each in artefacts)
        for cls in {urn.cls for urn in found}:
            assert [urn for urn in found if urn.cls == cls] == [each.urn for each in artefacts if each.urn.cls == cls]


def test_a_property_without_a_place_is_named_and_another_format_too() -> None:
    """An error names artefact, property and format, and a format to choose instead: a loss is never silent."""
    partial = codelist(is_partial=True)
    with pytest.raises(UnwritableError) as caught:
        write_message(partial, Format.EDI)
    assert str(caught.value) == (
        f"writing {FREQ} as SDMX-EDI: the format cannot represent is_partial; "
        "choose application/vnd.sdmx.structure+xml;version=3.1.0 instead"
    )
    assert explain_unwritable(partial, Format.EDI) == str(caught.value).partition("; choose")[0]
    assert explain_unwritable(partial, Format.SDMX_ML_2_1) is None


def test_a_class_without_a_place_is_named() -> None:
    """The error for a class without a place names the class, and the artefact among several."""
    values = ValueList(urn=Urn.of("ValueList", "AG", "VL", "1.0"), names=InternationalString({"en": "Values"}))
    with pytest.raises(UnwritableError, match=r"ValueList=AG:VL\(1.0\) as SDMX-ML 2.1: SDMX-ML 2.1 has no class"):
        write_message([codelist(), values], Format.SDMX_ML_2_1)


def test_a_control_character_is_refused_in_xml_only() -> None:
    """A control character has no place in XML, but has one in JSON."""
    odd = codelist(names=InternationalString({"en": "a\x00b"}))
    why = explain_unwritable(odd, Format.SDMX_ML_2_1)
    assert why is not None
    assert "contains the character '\\x00', which XML cannot represent" in why
    assert explain_unwritable(odd, Format.SDMX_JSON_2_0) is None


def test_without_verifying_a_loss_is_silent() -> None:
    """A loss that verification finds is silent without it."""
    partial = codelist(is_partial=True)
    [found] = read_message(write_message(partial, Format.EDI, verify=False))
    assert not found.is_partial
    assert explain_unwritable(partial, Format.EDI) is not None


def test_only_the_unrepresentable_parts_are_omitted() -> None:
    """Links, which have no place in 2.1, are omitted; annotations only lose their values; the rest stays."""
    linked = codelist(links=(Link(rel="see", url="https://example.org"),), is_final=True)
    [found] = read_message(write_message(linked, Format.SDMX_ML_2_1))
    assert found == replace(linked, links=())
    [found] = read_message(write_message(linked, Format.SDMX_ML_3_0))
    assert found == replace(linked, is_final=False)
    assert "the value of an annotation" in str(
        explain_unwritable(codelist(annotations=(Annotation(value="1"),)), Format.SDMX_ML_2_1)
    )


def test_opaque_artefacts_keep_their_bytes() -> None:
    """Opaque artefacts keep their own bytes in their own format, alone; any other format refuses them."""
    urn = Urn("reportingtemplate", "ReportingTemplate", "AG", "RT", "1.0")
    content = b'{"ReportingTemplate":[]}'
    opaque = OpaqueArtefact(urn=urn, content=content, content_type=Format.FUSION_JSON)
    assert write_message(opaque, Format.FUSION_JSON) == content
    with pytest.raises(UnwritableError, match=r"only known as application/vnd.fusion.json"):
        write_message(opaque, Format.SDMX_ML_2_1)
    with pytest.raises(UnwritableError, match="are written alone"):
        write_message([opaque, codelist()], Format.FUSION_JSON)


def test_workbooks_are_the_same_each_time_and_hold_texts() -> None:
    """Workbooks contain no creation time; texts that look like formulas or numbers stay texts."""
    first = write_message(mapping(), Format.XLSX)
    assert first == write_message(mapping(), Format.XLSX)
    with zipfile.ZipFile(io.BytesIO(first)) as archive:
        sheet = archive.read("xl/worksheets/sheet1.xml")
    assert b"<f>" not in sheet
    other = replace(mapping(), urn=Urn.of("RepresentationMap", "AG", "FREQ_TO_TEXT", "2.0"))
    found = read_message(write_message([mapping(), other], Format.XLSX))
    assert list(found) == [mapping(), other]


def test_a_text_too_long_for_a_cell_is_refused() -> None:
    """Texts above the 32,767 characters of a spreadsheet's cell are refused."""
    long = replace(mapping(), descriptions=InternationalString({"en": "x" * 40_000}))
    assert "is longer than a cell may be" in str(explain_unwritable(long, Format.XLSX))


def test_workbooks_need_their_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the library the error names what to install."""
    monkeypatch.setitem(sys.modules, "xlsxwriter", None)
    with pytest.raises(MissingExtraError, match="xlsx"):
        write_message(mapping(), Format.XLSX)


def test_edi_is_cut_into_pieces() -> None:
    """A long text is in pieces of 70 characters, five per segment; separators are released; languages are named."""
    text = "It's 100% sure: a + b? " * 30
    names = InternationalString({"en": text, "fr": "sûr"})
    code = Code(urn=FREQ.with_item("Code", "A"), names=names)
    data = write_message(codelist(codes=Items({"A": code})), Format.EDI)
    assert data.startswith(b"UNA:+.? '\r\nUNB+UNOC:3+")
    lines = data.decode("latin-1").split("\r\n")
    assert max(len(line) for line in lines) < 5 * (2 * 70 + 1) + 20
    assert "FTX+ACM+++sûr+FR'" in lines
    assert list(read_message(data)) == [codelist(codes=Items({"A": code}))]


def test_json_is_json() -> None:
    """SDMX-JSON contains its schema, and the best text next to all languages."""
    written = json.loads(write_message(codelist(), Format.SDMX_JSON_2_0))
    assert "2.0.0/sdmx-json-structure-schema.json" in written["meta"]["schema"]
    [code, _] = written["data"]["codelists"][0]["codes"]
    assert code == {"id": "A", "name": "Annual", "names": {"en": "Annual", "fr": "Annuelle"}}


def test_days_of_rows_keep_their_time_zone() -> None:
    """The start of a day in a zone is the day in this zone for SDMX-ML 3.x, whose rows have days."""
    row = RepresentationMapping(
        sources=(MappedValue(value="A"),),
        targets=("B",),
        valid_from="2020-01-01T00:00:00Z",
        valid_to="2021-01-01+02:00",
    )
    [found] = read_message(write_message(replace(mapping(), mappings=(row,)), Format.SDMX_ML_3_0))
    assert isinstance(found, RepresentationMap)
    assert [(one.valid_from, one.valid_to) for one in found.mappings] == [("2020-01-01Z", "2021-01-01+02:00")]


@pytest.mark.parametrize("format_", [Format.SDMX_JSON_2_0, Format.SDMX_JSON_2_1], ids=lambda one: one.title)
def test_links_of_the_usage_of_a_metadata_attribute_are_written(format_: Format) -> None:
    """A usage keeps its links and its address in SDMX-JSON."""
    structure = next(one for one in read_message(message(SAMPLE)) if isinstance(one, DataStructure))
    usage = MetadataAttributeUsage(
        metadata_attribute="CONTACT",
        relationship=AttributeRelationship(kind="dataset"),
        links=(Link(rel="help", url="https://example.org/help"),),
        uri="https://example.org/usage",
    )
    small = replace(
        structure, attributes=Items({}), descriptors=(), evolving_structure=False, metadata_attribute_usages=(usage,)
    )
    data = write_message(small, format_)
    assert schema_faults(format_, data) == []
    [found] = read_message(data)
    assert isinstance(found, DataStructure)
    assert found.metadata_attribute_usages == (usage,)
