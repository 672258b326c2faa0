"""Content that the schema of a format does not allow is refused or written in another form, never as it is."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest
from msgspec.structs import replace

from kafka_replica.sdmx import InternationalString, Urn, read_message, write_message
from kafka_replica.sdmx.containers import Items
from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.messages.format import Format
from kafka_replica.sdmx.model import (
    Artefact,
    ConstraintAttachment,
    ContentConstraint,
    DataConstraint,
    DataStructure,
    Dimension,
    EpochMap,
    HierarchicalCodelist,
    KeySet,
    Link,
    Measure,
    MemberSelection,
    MetadataSet,
    Region,
    ReportedAttribute,
    SelectedValue,
    StructureMap,
)
from kafka_replica.sdmx.model.representation import Representation
from support.sdmx.conversions import schema_faults

NAMES: Final = InternationalString({"en": "n"})
ML_3: Final = (Format.SDMX_ML_3_0, Format.SDMX_ML_3_1)
JSON_2: Final = (Format.SDMX_JSON_2_0, Format.SDMX_JSON_2_1)
AGREEMENT: Final = Urn.of("MetadataProvisionAgreement", "AG", "MPA", "1.0")
FLOW: Final = Urn.of("Dataflow", "AG", "DF", "1.0")


def metadata_set(*attributes: ReportedAttribute, id_: str = "MS", **properties: Any) -> MetadataSet:
    """Return a metadata set of a metadataflow, or of what the properties name."""
    return MetadataSet(
        urn=Urn.of("MetadataSet", "AG", id_, "1.0"),
        names=NAMES,
        targets=(str(FLOW),),
        attributes=attributes or (ReportedAttribute(id="A", values=("1",)),),
        **(properties or {"metadataflow": Urn.of("Metadataflow", "AG", "MF", "1.0")}),
    )


def valid(artefacts: Artefact | list[Artefact], format_: Format) -> bytes:
    """Return the message of these artefacts, after a check that it is valid."""
    data = write_message(artefacts, format_)
    assert schema_faults(format_, data) == []
    return data


def refusal(artefact: Artefact, format_: Format) -> str:
    """Return the reason why a format refuses an artefact, and the advice."""
    with pytest.raises(UnwritableError) as raised:
        write_message(artefact, format_)
    return str(raised.value)


@pytest.mark.parametrize("format_", ML_3, ids=lambda one: one.title)
def test_the_header_of_metadata_sets_is_valid(format_: Format) -> None:
    """Sets with an agreement, and with ids that begin with a digit or have signs, are valid, alone and together."""
    sets: list[Artefact] = [
        metadata_set(metadata_provision_agreement=AGREEMENT),
        metadata_set(id_="1RPT"),
        metadata_set(id_="A@B$", metadata_provision_agreement=AGREEMENT),
        metadata_set(id_="M4"),
    ]
    for each in sets:
        assert list(read_message(valid(each, format_))) == [each]
    data = valid(sets, format_)
    assert list(read_message(data)) == sets
    assert data.count(b"<mes:Structure ") == 2


def test_several_values_of_an_attribute_exist_in_sdmx_ml_30_alone() -> None:
    """An attribute with several values, at any depth, is refused by the formats whose schemas have one value."""
    several = ReportedAttribute(id="EMAIL", values=("a@x.org", "b@x.org"))
    found = metadata_set(ReportedAttribute(id="CONTACT", attributes=(several,)))
    assert list(read_message(valid(found, Format.SDMX_ML_3_0))) == [found]
    for format_ in (Format.SDMX_ML_3_1, *JSON_2):
        assert "several values of the attribute EMAIL; choose" in refusal(found, format_)
    mixed = metadata_set(ReportedAttribute(id="EMAIL", values=("1",), texts=NAMES))
    for format_ in (*ML_3, *JSON_2):
        assert "texts of the attribute EMAIL" in refusal(mixed, format_)


@pytest.mark.parametrize("format_", JSON_2, ids=lambda one: one.title)
def test_numbers_and_booleans_of_json_stay_so(format_: Format) -> None:
    """A reported number keeps its digits and does not become a text; SDMX-ML has its text."""
    written = '[{"id":"A","value":true},{"id":"B","value":1.50},{"id":"C","value":5},{"id":"D","value":"5"}]'
    data = valid(metadata_set(), format_).decode()
    data = data.replace('[{"id":"A","value":"1"}]', written)
    [found] = read_message(data.encode())
    assert isinstance(found, MetadataSet)
    assert [each.values for each in found.attributes] == [("true",), ("1.50",), ("5",), ("5",)]
    assert [each.is_literal for each in found.attributes] == [True, True, True, False]
    assert written in valid(found, format_).decode()
    assert b"<gen:Value>1.50</gen:Value>" in valid(found, Format.SDMX_ML_3_1)
    wrong = metadata_set(ReportedAttribute(id="A", values=("1,5",), is_literal=True))
    assert "'1,5' of the attribute A" in refusal(wrong, format_)


HIERARCHIES_20: Final = (
    '<m:Structure xmlns:m="http://www.SDMX.org/resources/SDMXML/schemas/v2_0/message" '
    'xmlns:s="http://www.SDMX.org/resources/SDMXML/schemas/v2_0/structure"><m:Header><m:ID>H</m:ID><m:Test>false'
    '</m:Test><m:Prepared>2026-01-01T00:00:00</m:Prepared><m:Sender id="A"/></m:Header><m:HierarchicalCodelists>'
    '<s:HierarchicalCodelist id="HCL" agencyID="A"><s:Name>n</s:Name><s:CodelistRef><s:AgencyID>A</s:AgencyID>'
    "<s:CodelistID>CL</s:CodelistID><s:Alias>C</s:Alias></s:CodelistRef>"
    '<s:Hierarchy id="H1"{}><s:Name>n</s:Name>{}</s:Hierarchy>'
    "</s:HierarchicalCodelist></m:HierarchicalCodelists></m:Structure>"
)
CODE_20: Final = "<s:CodeRef><s:CodelistAliasRef>C</s:CodelistAliasRef><s:CodeID>X</s:CodeID>{}</s:CodeRef>"
LEVELS_20: Final = "".join(
    f'<s:Level id="{id_}"><s:Name>n</s:Name><s:Order>{order}</s:Order></s:Level>'
    for id_, order in (("L1", 1), ("L2", 2))
)


def hierarchies_20(content: str, marks: str = "") -> HierarchicalCodelist:
    """Return a hierarchical codelist that is valid in SDMX-ML 2.0, with one hierarchy."""
    data = HIERARCHIES_20.format(marks, content).encode()
    assert schema_faults(Format.SDMX_ML_2_0, data) == []
    [found] = read_message(data)
    assert isinstance(found, HierarchicalCodelist)
    return found


def test_levels_of_20_have_no_path() -> None:
    """A level that 2.1 names by its path is named by its id in 2.0, where the schema allows no dot."""
    found = hierarchies_20(CODE_20.format("<s:LevelRef>L2</s:LevelRef>") + LEVELS_20)
    hierarchy = found.hierarchies["H1"]
    code = replace(hierarchy.codes["X"], level="L1.L2")
    nested = replace(found, hierarchies=Items({"H1": replace(hierarchy, codes=Items({"X": code}))}))
    assert b"<str:LevelRef>L2</str:LevelRef>" in valid(nested, Format.SDMX_ML_2_0)
    [again] = read_message(valid(nested, Format.SDMX_ML_2_1))
    assert again == nested


@pytest.mark.parametrize("format_", [Format.SDMX_ML_2_1, Format.SDMX_JSON_1_0], ids=lambda one: one.title)
def test_hierarchies_of_20_are_valid_later_or_refused(format_: Format) -> None:
    """A hierarchy without codes, and a version of a code that is not a number, are allowed in 2.0 alone."""
    empty = hierarchies_20("")
    assert "a code of each hierarchy, and H1 has none" in refusal(empty, format_)
    dated = hierarchies_20(CODE_20.format("<s:Version>2008-09-15T18:06:51</s:Version>"))
    assert "the version '2008-09-15T18:06:51' of the code X" in refusal(dated, format_)
    for found in (empty, dated):
        assert list(read_message(valid(found, Format.SDMX_ML_2_0))) == [found]
    valid(hierarchies_20(CODE_20.format("<s:Version>1.2</s:Version>")), format_)


def test_default_marks_of_a_hierarchy_of_20_are_not_kept() -> None:
    """A hierarchy of version 1.0 that is not final has no history, and can be written as 2.1."""
    plain = hierarchies_20(CODE_20.format(""))
    stated = hierarchies_20(CODE_20.format(""), ' version="1.0" isFinal="false"')
    assert stated == plain
    valid(stated, Format.SDMX_ML_2_1)


def data_structure(enumeration: Urn, *, of_measure: bool = False) -> DataStructure:
    """Return a data structure whose dimension or measure has this list."""
    urn = Urn.of("DataStructure", "AG", "DSD", "1.0.0")
    concept = Urn.parse("urn:sdmx:org.sdmx.infomodel.conceptscheme.Concept=AG:CS(1.0).X")
    listed, text = Representation(enumeration=enumeration), None
    dimension = Dimension(
        urn=urn.with_item("Dimension", "D"),
        concept=concept,
        position=1,
        representation=text if of_measure else listed,
    )
    measure = Measure(urn=urn.with_item("Measure", "M"), concept=concept, representation=listed if of_measure else text)
    return DataStructure(
        urn=urn, names=NAMES, dimension_list=Items({"D": dimension}), attributes=Items({}),
        measures=Items({"M": measure}), groups=Items({}),
    )  # fmt: skip


@pytest.mark.parametrize("format_", [*ML_3, *JSON_2], ids=lambda one: one.title)
def test_dimensions_have_codelists_and_no_value_lists(format_: Format) -> None:
    """A value list is refused for a dimension, and valid for a measure."""
    values, codes = Urn.of("ValueList", "AG", "VL", "1.0.0"), Urn.of("Codelist", "AG", "CL", "1.0.0")
    reason = refusal(data_structure(values), format_)
    assert f"a Codelist where a dimension refers to {values}; choose {Format.FUSION_JSON}" in reason
    valid(data_structure(codes), format_)
    valid(data_structure(values, of_measure=True), format_)


def constraint(selection: MemberSelection, place: str) -> DataConstraint:
    """Return a constraint with a selection at a place: a region's key or component, or that of a key set."""
    region = Region(components=(selection,)) if place.endswith("components") else Region(key_values=(selection,))
    return DataConstraint(
        urn=Urn.of("DataConstraint", "AG", "DC", "1.0.0"),
        names=NAMES,
        role="Allowed",
        attachment=ConstraintAttachment(references=(FLOW,)),
        cube_regions=(region,) if place.startswith("region") else (),
        key_sets=() if place.startswith("region") else (KeySet(keys=(region,)),),
    )


@pytest.mark.parametrize("format_", [*ML_3, *JSON_2], ids=lambda one: one.title)
@pytest.mark.parametrize("place", ["region key", "region components", "key", "key components"])
def test_only_dimensions_of_cube_regions_have_a_validity(format_: Format, place: str) -> None:
    """The validity of selected values is valid where the schema allows it, and otherwise refused."""
    values = (SelectedValue(value="X"),)
    valid(constraint(MemberSelection(id="D", values=values), place), format_)
    dated = constraint(MemberSelection(id="D", values=values, valid_from="2026"), place)
    if place == "region key" or format_ is Format.SDMX_JSON_2_0:
        valid(dated, format_)
    else:
        assert "the validity of the values of D" in refusal(dated, format_)


def test_language_tags_keep_the_capitals_of_the_pattern() -> None:
    """A tag of a link is written in lower case, except for the four that the schemas list with capitals."""
    for written, expected in (("EN-gb-OED", "en-GB-oed"), ("sgn-be-fr", "sgn-BE-FR"), ("en-GB", "en-gb")):
        link = Link(rel="via", url="https://example.org", hreflang=written)
        data = valid(replace(data_structure(Urn.of("Codelist", "AG", "CL", "1.0.0")), links=(link,)), JSON_2[0])
        assert json.loads(data)["data"]["dataStructures"][0]["links"][-1]["hreflang"] == expected


@pytest.mark.parametrize("format_", [Format.SDMX_ML_2_1, Format.SDMX_JSON_1_0], ids=lambda one: one.title)
def test_the_reference_period_consists_of_instants(format_: Format) -> None:
    """A reference period of days is refused: the schemas demand instants, and a day as the end is its last one."""
    one = ContentConstraint(
        urn=Urn.of("ContentConstraint", "AG", "CC", "1.0"),
        names=NAMES,
        role="Allowed",
        attachment=ConstraintAttachment(references=(FLOW,)),
        reference_period=("2010-01-01T00:00:00", "2010-12-31T23:59:59Z"),
    )
    valid(one, format_)
    for wrong in ("2010-01-01", "2010", "2010-01-01T00:00", "?"):
        assert f"{wrong!r} is not an instant" in refusal(replace(one, reference_period=(wrong, wrong)), format_)


@pytest.mark.parametrize("format_", [*ML_3, *JSON_2], ids=lambda one: one.title)
def test_date_maps_have_the_names_of_the_schema(format_: Format) -> None:
    """The period that a date map resolves to is written as in the schema, and unknown names are refused."""
    urn = Urn.of("StructureMap", "AG", "SM", "1.0.0")
    source, target = (Urn.of("DataStructure", "AG", id_, "1.0.0") for id_ in "ST")
    date_map = EpochMap(
        urn=urn.with_item("EpochMap", "E"), sources=("TIME_PERIOD",), targets=("TIME_PERIOD",), base_period="1970",
        epoch_period="day", target_frequency="A", resolve_period="MID_PERIOD",
    )  # fmt: skip
    found = StructureMap(urn=urn, names=NAMES, source=source, target=target, epoch_maps=(date_map,))
    assert b"midPeriod" in valid(found, format_)
    for wrong in ({"resolve_period": "middle"}, {"epoch_period": "fortnight"}):
        assert f"instead of {next(iter(wrong.values()))!r}" in refusal(
            replace(found, epoch_maps=(replace(date_map, **wrong),)), format_
        )


def test_the_advice_names_a_format_or_that_there_is_none() -> None:
    """An artefact that no other format can represent is not called wrong, because it may be valid in its own format."""
    dated = constraint(MemberSelection(id="D", values=(SelectedValue(value="X"),), valid_from="2026"), "key")
    assert f"choose {Format.SDMX_JSON_2_0} instead" in refusal(dated, Format.SDMX_ML_3_0)
    mixed = metadata_set(ReportedAttribute(id="EMAIL", values=("1",), texts=NAMES))
    assert refusal(mixed, Format.SDMX_ML_3_0).endswith("; no other format can, either")


@pytest.mark.parametrize("format_", ML_3, ids=lambda one: one.title)
def test_a_metadata_set_without_a_subject_is_refused(format_: Format) -> None:
    """A set without metadataflow and agreement, such as a stub, is refused: the header has to state one of both."""
    stub = replace(metadata_set(), metadataflow=None, targets=(), attributes=(), is_external_reference=True)
    assert "demands the metadataflow or the metadata provision agreement" in refusal(stub, format_)


@pytest.mark.parametrize("format_", ML_3, ids=lambda one: one.title)
def test_the_publication_period_is_a_period_of_time(format_: Format) -> None:
    """SDMX-JSON also allows other texts with a slash; SDMX-ML refuses them."""
    for period in ("2026", "2026-Q1", "2026-01-01/P1M"):
        valid(replace(metadata_set(), publication_period=period), format_)
    wrong = replace(metadata_set(), publication_period="y/Pn?E|P26T715J8S")
    valid(wrong, Format.SDMX_JSON_2_0)
    assert "a period of time, but 'y/Pn?E|P26T715J8S'" in refusal(wrong, format_)
