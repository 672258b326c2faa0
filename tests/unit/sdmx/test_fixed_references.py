"""References whose class, package, id or version the schema fixes or presets need not contain it (SDMX-ML).

The table of such references is derived from the official schemas: the reader must give the same model whether a message
contains the value or leaves it out, so no kind of reference can be forgotten.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from io import BytesIO
from typing import Any

import pytest
import sdmx
from lxml import etree

from kafka_replica.sdmx import Structures, read_message, split_message, write_message
from kafka_replica.sdmx.errors import MessageError
from kafka_replica.sdmx.messages.format import Format
from kafka_replica.sdmx.model import DataStructure
from support.sdmx.conversions import schema_faults
from support.sdmx.schema_probe import join_references, message_around, message_with, model_of
from support.sdmx.sdmx_corpus import FakeSnapshot
from support.sdmx.standard_schemas import faults
from support.sdmx.xsd_samples import Schemas

STATED = {"21": {"class": 90, "package": 90, "version": 70, "maintainableParentVersion": 20, "id": 10}, "30": {"id": 5}}
"""The least number of places of each attribute that the schemas fix or preset."""
OTHER_MESSAGES: dict[str, list[tuple[str, ...]]] = {
    "21": [
        ("GenericMetadata", "MetadataSet"),
        ("RegistryInterface", "SubmitRegistrationsRequest", "RegistrationRequest", "Registration"),
    ],
    "30": [("GenericMetadata", "MetadataSet")],
    "31": [("GenericMetadata", "MetadataSet")],
}


class PresetSchemas(Schemas):
    """Schemas that record which attributes of the sample elements have a fixed or default value."""

    def __init__(self, version: str) -> None:
        super().__init__(version)
        self.presets: dict[str, dict[str, str]] = {}

    def _fill(self, made: etree._Element, node: etree._Element, inside: list[object], path: str) -> None:
        found = {
            name: value
            for name, attribute in self.attributes(self._type_of(node)).items()
            if (value := attribute.get("fixed") or attribute.get("default")) and attribute.get("use") != "prohibited"
        }
        self.presets[path] = found
        super()._fill(made, node, inside, path)

    def presets_of(self, element: etree._Element) -> dict[str, str]:
        """Return the attributes of an element that a schema fixes or presets, with their values."""
        path, node = str(element.tag), element.getparent()
        while path not in self.presets and node is not None:
            path, node = f"{node.tag}/{path}", node.getparent()
        return self.presets.get(path, {})


def samples(schemas: PresetSchemas, version: str) -> Iterator[etree._Element]:
    """Return messages that together contain every element of an edition."""
    for container in schemas.structure_message:
        for artefact in schemas.artefacts(container):
            for _ in range(10):
                element = schemas.sample(artefact)
                if element.get("isExternalReference"):
                    element.set("isExternalReference", "false")
                join_references(element)
                yield message_with(container, element)
    for path in OTHER_MESSAGES[version]:
        for _ in range(10):
            element = schemas.sample(schemas.in_message(*path))
            for name, value in (("isExternalReference", "false"), ("action", "Replace")):
                if element.get(name):
                    element.set(name, value)
            yield message_around(schemas, path, element, version)


def outcome(root: etree._Element) -> Any:
    """Return the model of a message, or the reason for its refusal."""
    try:
        return model_of(etree.tostring(root))
    except MessageError as error:
        return str(error)


@pytest.mark.long
@pytest.mark.parametrize("version", ["21", "30", "31"])
def test_a_reference_may_omit_attributes_that_the_schema_fixes(version: str) -> None:
    """A message reads the same with and without each attribute of a <Ref>, and each id, that the schema presets."""
    schemas = PresetSchemas(version)
    tried: Counter[str] = Counter()
    differing: set[tuple[str, str]] = set()
    for root in samples(schemas, version):
        for element in root.iter():
            local = etree.QName(element).localname
            for name, value in schemas.presets_of(element).items():
                if name != "id" and local != "Ref":
                    continue
                before = element.get(name)
                element.set(name, value)
                parse_lenient = outcome(root)
                del element.attrib[name]
                place = "/".join(
                    etree.QName(iterancestor).localname
                    for iterancestor in (*reversed([*element.iterancestors()]), element)
                )
                if isinstance(parse_lenient, str) or outcome(root) != parse_lenient:
                    differing.add((f"{place}@{name}", value))
                if before is not None:
                    element.set(name, before)
                tried[name] += 1
    assert differing == set()
    for name, least in STATED.get(version, {}).items():
        assert tried[name] >= least, name


MEASURE_DIMENSION = b"""<m:Structure xmlns:m="http://www.sdmx.org/resources/sdmxml/schemas/v2_1/message"
    xmlns:s="http://www.sdmx.org/resources/sdmxml/schemas/v2_1/structure"
    xmlns:c="http://www.sdmx.org/resources/sdmxml/schemas/v2_1/common">
  <m:Header><m:ID>M</m:ID><m:Test>false</m:Test><m:Prepared>2026-01-01T00:00:00Z</m:Prepared>
    <m:Sender id="SDMX"/></m:Header>
  <m:Structures>
    <s:Concepts>
      <s:ConceptScheme id="CS11" agencyID="SDMX" version="1.0"><c:Name xml:lang="en">Measures</c:Name>
        <s:Concept id="TURNOVER"><c:Name xml:lang="en">Turnover</c:Name></s:Concept>
        <s:Concept id="ORDERS"><c:Name xml:lang="en">Orders</c:Name></s:Concept>
        <s:Concept id="STS_INDICATOR"><c:Name xml:lang="en">Indicator</c:Name></s:Concept>
        <s:Concept id="OBS_VALUE"><c:Name xml:lang="en">Value</c:Name></s:Concept>
      </s:ConceptScheme>
    </s:Concepts>
    <s:DataStructures>
      <s:DataStructure id="DSD" agencyID="SDMX" version="1.0"><c:Name xml:lang="en">Structure</c:Name>
        <s:DataStructureComponents>
          <s:DimensionList id="DimensionDescriptor">
            <s:MeasureDimension id="STS_INDICATOR" position="1">
              <s:ConceptIdentity><Ref id="STS_INDICATOR" maintainableParentID="CS11" agencyID="SDMX"/>
              </s:ConceptIdentity>
              <s:LocalRepresentation><s:Enumeration><Ref id="CS11" agencyID="SDMX"/></s:Enumeration>
              </s:LocalRepresentation>
            </s:MeasureDimension>
          </s:DimensionList>
          <s:AttributeList id="AttributeDescriptor">
            <s:Attribute id="NOTE" assignmentStatus="Conditional">
              <s:ConceptIdentity><Ref id="ORDERS" maintainableParentID="CS11" agencyID="SDMX"/></s:ConceptIdentity>
              <s:AttributeRelationship><s:PrimaryMeasure><Ref id="OBS_VALUE"/></s:PrimaryMeasure>
              </s:AttributeRelationship>
            </s:Attribute>
            <s:ReportingYearStartDay assignmentStatus="Conditional">
              <s:ConceptIdentity><Ref id="TURNOVER" maintainableParentID="CS11" agencyID="SDMX"/></s:ConceptIdentity>
              <s:LocalRepresentation><s:TextFormat textType="MonthDay"/></s:LocalRepresentation>
              <s:AttributeRelationship><s:None/></s:AttributeRelationship>
            </s:ReportingYearStartDay>
          </s:AttributeList>
          <s:MeasureList id="MeasureDescriptor">
            <s:PrimaryMeasure><s:ConceptIdentity><Ref id="OBS_VALUE" maintainableParentID="CS11" agencyID="SDMX"/>
            </s:ConceptIdentity></s:PrimaryMeasure>
          </s:MeasureList>
        </s:DataStructureComponents>
      </s:DataStructure>
    </s:DataStructures>
  </m:Structures>
</m:Structure>"""


def test_a_measure_dimension_takes_its_values_from_a_concept_scheme() -> None:
    """A <Ref> without a class names a concept scheme: it resolves, is valid when written again, and sdmx1 agrees."""
    assert faults("21", MEASURE_DIMENSION) == []
    structures = Structures(FakeSnapshot.of(split_message(MEASURE_DIMENSION)))
    found = structures.resolve("urn:sdmx:org.sdmx.infomodel.datastructure.DataStructure=SDMX:DSD(1.0)")
    representation = found.components["STS_INDICATOR"].representation
    assert representation is not None
    enumeration = representation.enumeration
    assert str(enumeration) == "urn:sdmx:org.sdmx.infomodel.conceptscheme.ConceptScheme=SDMX:CS11(1.0)"
    assert found.components["STS_INDICATOR"].allowed_ids() == {"TURNOVER", "ORDERS", "STS_INDICATOR", "OBS_VALUE"}
    assert (
        faults("21", write_message(list(read_message(MEASURE_DIMENSION)), "application/vnd.sdmx.structure+xml")) == []
    )


def test_the_implied_class_equals_the_stated_class_of_sdmx1() -> None:
    """The model without the class equals sdmx1's of the same message with the class."""
    parse_lenient = MEASURE_DIMENSION.replace(
        b'<Ref id="CS11"', b'<Ref class="ConceptScheme" package="conceptscheme" id="CS11"'
    )
    # sdmx1 does not know a reporting year start day.
    parse_lenient = re.sub(
        rb"<s:ReportingYearStartDay.*?</s:ReportingYearStartDay>", b"", parse_lenient, flags=re.DOTALL
    )
    message: Any = sdmx.read_sdmx(BytesIO(parse_lenient))
    [theirs] = message.structure.values()
    enumerated = theirs.dimensions.get("STS_INDICATOR").local_representation.enumerated
    [ours] = [one for one in read_message(MEASURE_DIMENSION) if isinstance(one, DataStructure)]
    representation = ours.dimension_list["STS_INDICATOR"].representation
    assert representation is not None
    assert representation.enumeration is not None
    assert representation.enumeration.cls == type(enumerated).__name__ == "ConceptScheme"


def test_components_may_omit_a_fixed_id() -> None:
    """A reporting year start day, and a reference to the primary measure, have the ids that the schema fixes."""
    found = next(one for one in read_message(MEASURE_DIMENSION) if isinstance(one, DataStructure))
    assert list(found.attributes) == ["NOTE", "REPORTING_YEAR_START_DAY"]
    assert found.attributes["NOTE"].relationship.measures == ("OBS_VALUE",)


WITHOUT_MEASURE_DIMENSION = MEASURE_DIMENSION.replace(b"MeasureDimension", b"Dimension")


@pytest.mark.parametrize(
    "format_",
    [Format.SDMX_ML_3_0, Format.SDMX_ML_3_1, Format.SDMX_JSON_2_0, Format.SDMX_JSON_2_1, Format.FUSION_JSON],
    ids=lambda one: one.title,
)
def test_a_reporting_year_start_day_becomes_an_attribute_since_3_0(format_: Format) -> None:
    """The class of 2.1 is an ordinary attribute in formats of 3.x, from which it is written in 2.1 again."""
    of_21 = next(one for one in read_message(WITHOUT_MEASURE_DIMENSION) if isinstance(one, DataStructure))
    old = of_21.attributes["REPORTING_YEAR_START_DAY"]
    data = write_message(of_21, format_)
    [of_3] = read_message(data)
    assert isinstance(of_3, DataStructure)
    new = of_3.attributes["REPORTING_YEAR_START_DAY"]
    assert (old.urn.cls, new.urn.cls) == ("ReportingYearStartDay", "DataAttribute")
    assert (new.concept, new.representation, new.relationship) == (old.concept, old.representation, old.relationship)
    again = write_message(of_3, Format.SDMX_ML_2_1)
    assert schema_faults(format_, data) == schema_faults(Format.SDMX_ML_2_1, again) == []
