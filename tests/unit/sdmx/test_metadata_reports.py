"""Metadata sets of SDMX-ML 2.1 and 2.0: their content, their URNs, and their equality with those of 3.0."""

from __future__ import annotations

from typing import Any

import pytest
from lxml import etree

from kafka_replica.sdmx import Structures, split_message
from kafka_replica.sdmx.errors import MessageError, NotExpressibleError, UnwritableError
from kafka_replica.sdmx.exchange import to_pysdmx
from kafka_replica.sdmx.messages.format import Format
from kafka_replica.sdmx.model import MetadataSet, MetadataSetOfReports
from kafka_replica.sdmx.model.earlier_editions import TimedReportedAttribute
from kafka_replica.sdmx.reading.messages import read_message
from kafka_replica.sdmx.writing.messages import write_message
from support.paths import SDMX_DATA
from support.sdmx.registry_messages import schema
from support.sdmx.sdmx_corpus import FakeSnapshot

DATA = SDMX_DATA
OF_21 = (DATA / "metadata_sets.sdmx21.xml").read_bytes()
OF_20 = (DATA / "metadata_set.sdmx20.xml").read_bytes()
ML = "http://www.sdmx.org/resources/sdmxml/schemas/v"
URN = "urn:sdmx:org.sdmx.infomodel."
OF_30 = f"""<m:GenericMetadata xmlns:m="{ML}3_0/message" xmlns:g="{ML}3_0/metadata/generic" xmlns:c="{ML}3_0/common">
<m:Header><m:ID>M1</m:ID></m:Header><m:MetadataSet id="LABOUR" agencyID="STAT" version="1.0" action="Replace"
 reportingBeginDate="2020" reportingEndDate="2025" publicationYear="2026" publicationPeriod="2026-Q1"
 validFrom="2026-01-01T00:00:00">
<c:Annotations><c:Annotation id="N"><c:AnnotationText>note</c:AnnotationText></c:Annotation></c:Annotations>
<c:Name xml:lang="en">Quality of labour data</c:Name>
<g:Metadataflow>{URN}metadatastructure.Metadataflow=KR:QUALITY(1.0)</g:Metadataflow>
<g:Target>{URN}datastructure.Dataflow=KR:LABOUR(1.0)</g:Target>
<g:Attribute id="CONTACT">
<g:Attribute id="NAME"><c:Text xml:lang="en">Ann</c:Text><c:Text xml:lang="fr">Anne</c:Text></g:Attribute>
<g:Attribute id="NOTE"><c:StructuredText xml:lang="en">a note</c:StructuredText></g:Attribute></g:Attribute>
<g:Attribute id="YEAR"><g:Value>2020</g:Value></g:Attribute></m:MetadataSet></m:GenericMetadata>""".encode()

SPECIFIC = f"""<m:StructureSpecificMetadata xmlns:m="{ML}2_1/message" xmlns:c="{ML}2_1/common"
 xmlns:s="{ML}2_1/metadata/structurespecific" xmlns:x="urn:example:msd"
 xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><m:Header><m:ID>M1</m:ID><m:Sender id="KR"/>
<m:Structure structureID="F" namespace="urn:example:msd">
<c:StructureUsage><Ref agencyID="KR" id="QUALITY" version="1.0"/></c:StructureUsage></m:Structure>
<m:DataSetAction>Replace</m:DataSetAction></m:Header>
<m:MetadataSet xsi:type="x:MetadataSetType" s:structureRef="F" s:setID="LABOUR" s:reportingBeginDate="2020"
 s:reportingEndDate="2025" s:publicationYear="2026" s:publicationPeriod="2026-Q1"
 s:validFromDate="2026-01-01T00:00:00">
<c:Annotations><c:Annotation id="N"><c:AnnotationText>note</c:AnnotationText></c:Annotation></c:Annotations>
<c:Name xml:lang="en">Quality of labour data</c:Name>
<DataProvider><Ref agencyID="SDMX" maintainableParentID="DATA_PROVIDERS" maintainableParentVersion="1.0" id="STAT"/>
</DataProvider><Report xsi:type="x:REPORT" id="REPORT"><Target id="FLOW_TARGET"><ReferenceValue id="OBJECT">
<ObjectReference><Ref agencyID="KR" id="LABOUR" version="1.0" class="Dataflow" package="datastructure"/>
</ObjectReference></ReferenceValue></Target><AttributeSet><CONTACT s:isMetadataAttribute="true"><AttributeSet>
<NAME s:isMetadataAttribute="true"><c:Text xml:lang="en">Ann</c:Text><c:Text xml:lang="fr">Anne</c:Text></NAME>
<NOTE s:isMetadataAttribute="true"><c:StructuredText xml:lang="en">a note</c:StructuredText></NOTE></AttributeSet>
</CONTACT><YEAR s:isMetadataAttribute="true" value="2020"/></AttributeSet></Report></m:MetadataSet>
</m:StructureSpecificMetadata>""".encode()


def sets(data: bytes) -> list[MetadataSetOfReports]:
    """Return all sets of a message."""
    found = list(read_message(data))
    assert all(isinstance(one, MetadataSetOfReports) for one in found)
    return found  # type: ignore[return-value]


def as_of_3(one: MetadataSet) -> dict[str, Any]:
    """Return the part of a set that 3.x can express."""
    return {name: getattr(one, name) for name in MetadataSet.__struct_fields__}


def test_twins_of_21_and_30() -> None:
    """A set of 2.1 with one report equals that of 3.0 and has the same URN: its agency is its provider."""
    [of_30] = read_message(OF_30)
    assert isinstance(of_30, MetadataSet)
    assert as_of_3(sets(OF_21)[0]) == as_of_3(of_30)


def test_structure_specific_is_the_same() -> None:
    """Elements named by a metadata structure are read without it, and equal those of the generic message."""
    assert sets(SPECIFIC) == sets(OF_21)[:1]


def test_ids_that_only_the_schema_has() -> None:
    """Structure-specific messages leave ids of reports and targets to their schema; attributes have their names."""
    [one] = sets(
        SPECIFIC.replace(b' id="REPORT"', b"").replace(b' id="FLOW_TARGET"', b"").replace(b' id="OBJECT"', b"")
    )
    [report] = one.reports
    assert (report.id, report.target, report.target_objects[0].id) == (None, None, None)
    assert [each.id for each in report.attributes] == ["CONTACT", "YEAR"]


def test_reports_about_several_things() -> None:
    """Each report keeps its own target; the set has the content of all, in order."""
    one = sets(OF_21)[1]
    assert str(one.urn) == f"{URN}metadatastructure.MetadataSet=KR:SERIES(1.0)"  # no provider: the structure's agency
    assert one.metadata_structure is not None
    assert (one.action, one.metadataflow, one.metadata_structure.id) == ("Append", None, "MSD")
    assert one.metadata_structure_url == "https://example.org/msd.xml"
    first, second = one.reports
    key, period = first.target_objects
    assert key.data_key is not None
    assert (key.id, key.data_key.key_values[0].values[0].value, period.report_period) == ("KEY", "A", "2025")
    data_set, constraint = second.target_objects
    assert data_set.data_set is not None
    assert data_set.data_set.provider is not None
    assert (data_set.data_set.id, data_set.data_set.provider.item) == ("S1", "STAT")
    assert str(constraint.constraint) == f"{URN}registry.AttachmentConstraint=KR:AC(1.0)"
    assert [each.values for each in one.attributes] == [("2021",), ("2022",)]
    assert one.attributes == first.attributes + second.attributes


def test_a_set_of_2_0_equals_that_of_2_1() -> None:
    """A set of 2.0 equals that of 2.1; its id may be in the header."""
    [one], other = sets(OF_20), sets(OF_21)[0]
    assert one.urn == other.urn
    same = ("names", "metadataflow", "data_provider", "action", "reporting_begin_date", "reporting_end_date",
            "publication_year", "publication_period", "valid_from")  # fmt: skip
    assert [getattr(one, name) for name in same] == [getattr(other, name) for name in same]
    [report] = one.reports
    assert (report.id, report.target) == ("REPORT", "FLOW_TARGET")
    [value] = report.target_objects
    assert (value.id, value.object_type, value.value) == ("FLOW", "DataFlow", "LABOUR")
    name, time = report.attributes[0].attributes
    assert dict(name.texts) == {"en": "Ann", "fr": "Anne"}
    assert isinstance(time, TimedReportedAttribute)
    assert (time.texts["en"], time.start_time) == ("P1D", "2026-01-01T00:00:00")
    assert one.annotations[0].title == "note"


@pytest.mark.parametrize(("data", "edition"), [(OF_21, "21"), (SPECIFIC, None), (OF_20, "20")])
def test_a_part_is_found_by_its_urn_and_valid(data: bytes, edition: str | None) -> None:
    """A part is found by its URN, has the same content, and is valid."""
    whole = sets(data)
    parts = split_message(data)
    assert [part.urn for part in parts] == [one.urn for one in whole]
    for part, one in zip(parts, whole, strict=True):
        assert list(read_message(part.value, part.content_type)) == [one]
        if edition:
            valid = schema(edition)
            assert valid.validate(etree.fromstring(part.value)), valid.error_log
    structures = Structures(FakeSnapshot.of(parts))
    assert structures.metadata_set(whole[0].urn) == whole[0]


def test_a_set_without_an_id_has_no_urn() -> None:
    """The id is the set's, or the header's for a single set; without an id there is no URN."""
    alone = split_message(OF_21)[0].value
    assert sets(alone.replace(b' setID="LABOUR"', b""))[0].id == "M1"
    named = alone.replace(b"</m:DataSetAction>", b"</m:DataSetAction><m:DataSetID>D</m:DataSetID>")
    assert sets(named.replace(b' setID="LABOUR"', b""))[0].id == "D"
    with pytest.raises(MessageError, match="no id"):
        read_message(OF_21.replace(b' setID="LABOUR"', b""))
    nowhere = sets(alone.replace(b'structureRef="FLOW"', b'structureRef="X"'))[0]
    assert (nowhere.metadataflow, nowhere.agency) == (None, "STAT")
    no_agency = OF_21.replace(b'structureRef="MSD"', b'structureRef="X"')
    assert sets(no_agency)[1].agency == "KR"  # the sender
    with pytest.raises(MessageError, match="no agency"):
        read_message(no_agency.replace(b'<m:Sender id="KR"/>', b""))
    same = OF_21.replace(b"<m:DataSetAction>", PROVIDER + b"<m:DataSetAction>").replace(b'"SERIES"', b'"LABOUR"')
    with pytest.raises(MessageError, match="duplicate"):
        read_message(same)


PROVIDER = (
    b'<m:DataProvider><Ref agencyID="SDMX" maintainableParentID="DATA_PROVIDERS" maintainableParentVersion="1.0" '
    b'id="STAT"/></m:DataProvider>'
)


def test_a_provider_in_the_header_applies_to_sets_without_one() -> None:
    """A provider in the header applies to the sets that name none."""
    first, second = sets(OF_21.replace(b"<m:DataSetAction>", PROVIDER + b"<m:DataSetAction>"))
    assert first.data_provider == second.data_provider
    assert (second.agency, first.action, second.action) == ("STAT", "Replace", "Append")


def test_data_in_a_message_group_is_refused() -> None:
    """Data in a message group, and metadata reports with elements of their own, are refused, not partly read."""
    group = OF_20.replace(b"GenericMetadata", b"MessageGroup")
    assert [set_.reports for set_ in sets(group.replace(b"<g:MetadataSet ", b'<g:MetadataSet datasetID="S" '))]
    with pytest.raises(MessageError, match="neither a structure message"):
        read_message(group.replace(b"g:MetadataSet", b"g:DataSet"))
    with pytest.raises(MessageError, match="metadata report"):
        read_message(group.replace(b"v2_0/genericmetadata", b"v2_0/metadatareport"))
    with pytest.raises(MessageError):
        read_message(OF_20.replace(b"GenericMetadata", b"MetadataReport"))
    with pytest.raises(MessageError, match="no conceptID"):
        read_message(OF_20.replace(b' conceptID="TIME"', b""))


def test_a_reported_attribute_of_20_may_have_an_empty_id() -> None:
    """The schema of 2.0 allows an empty id, and ABS.Stat gives it to a value below an attribute."""
    [found] = read_message(OF_20.replace(b' conceptID="TIME"', b' conceptID=" "'))
    assert isinstance(found, MetadataSetOfReports)
    pending, ids = list(found.attributes), []
    while pending:
        attribute = pending.pop()
        ids.append(attribute.id)
        pending += attribute.attributes
    assert "" in ids
    assert "TIME" not in ids


def test_a_message_without_reports_is_refused() -> None:
    """A message that cannot contain reports is refused instead of written without them."""
    [one] = sets(SPECIFIC)
    for format_ in (Format.SDMX_ML_3_0, Format.SDMX_ML_2_1, Format.SDMX_JSON_2_0):
        with pytest.raises(UnwritableError):
            write_message(one, format_)
    with pytest.raises(NotExpressibleError, match=r"cannot represent|no class"):
        to_pysdmx(one)
