"""Names and values that the schemas of SDMX-JSON require of written messages, and parts of Fusion-JSON."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from kafka_replica.sdmx import InternationalString, Urn, read_message
from kafka_replica.sdmx.containers import Items
from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.formats.shared.writing.conversion import as_representable_in
from kafka_replica.sdmx.messages.format import Format
from kafka_replica.sdmx.model import (
    AttachmentConstraint,
    Codelist,
    CodelistExtension,
    ConstraintAttachment,
    ContentConstraint,
    DataConstraint,
    DataStructure,
    Hierarchy,
    ItemMap,
    KeySet,
    Level,
    MappedValue,
    MemberSelection,
    MemberValue,
    MetadataAttribute,
    MetadataSet,
    MetadataStructure,
    MetadataTarget,
    Region,
    ReportedAttribute,
    ReportStructure,
    SchemeMapInSet,
    SelectedValue,
    SetReference,
    StructureSet,
    TargetObject,
)
from kafka_replica.sdmx.model.representation import Representation, TextFormat
from kafka_replica.sdmx.writing.messages import write_message
from support.sdmx.conversions import json_schema, schema_faults
from support.sdmx.sdmx_json_samples import CODELIST, CONCEPT, artefact, message

XHTML: Final = "http://www.w3.org/1999/xhtml"
NAMES: Final = InternationalString({"en": "N"})
FLOW: Final = Urn.of("Dataflow", "A", "DF", "1.0.0")
PROVIDER: Final = Urn.of("DataProviderScheme", "A", "DATA_PROVIDERS", "1.0").with_item("DataProvider", "P")
SETS: Final = tuple(SetReference(provider=PROVIDER, id=id_) for id_ in ("S1", "S2"))


def written(artefact: Any, format_: Format) -> Any:
    """Return the JSON of the artefact in a valid message, which reads back as the format represents it."""
    data = write_message(artefact, format_)
    assert list(read_message(data)) == [as_representable_in(artefact, format_)]
    assert schema_faults(format_, data) == []
    content = json.loads(data)
    [[found]] = [held for name, held in content.get("data", content).items() if name != "meta"]
    return found


def keyed(*values: SelectedValue) -> DataConstraint:
    """Return a constraint with a key of these values."""
    key = Region(key_values=(MemberSelection(id="FREQ", values=values),))
    return DataConstraint(
        urn=Urn.of("DataConstraint", "A", "C", "1.0.0"),
        names=NAMES,
        attachment=ConstraintAttachment(references=(FLOW,)),
        key_sets=(KeySet(keys=(key,)),),
    )


A: Final = SelectedValue(value="A")
M: Final = SelectedValue(value="M")


@pytest.mark.parametrize(
    ("values", "expected"), [((A,), {"id": "FREQ", "value": "A"}), ((A, M), {"id": "FREQ", "values": ["A", "M"]})]
)
def test_values_of_keys_are_texts(values: tuple[SelectedValue, ...], expected: dict[str, Any]) -> None:
    """Keys have texts as values; only 2.1 has keys with several of them."""
    found = written(keyed(*values), Format.SDMX_JSON_2_1)
    assert found["dataKeySets"][0]["keys"][0]["keyValues"] == [expected]
    if len(values) > 1:
        with pytest.raises(UnwritableError, match="one value of FREQ"):
            write_message(keyed(*values), Format.SDMX_JSON_2_0)
    else:
        written(keyed(*values), Format.SDMX_JSON_2_0)


@pytest.mark.parametrize("format_", [Format.SDMX_JSON_2_0, Format.SDMX_JSON_2_1])
def test_a_cascade_in_a_key_is_refused(format_: Format) -> None:
    """A value of a key has no place for a cascade, language or validity."""
    with pytest.raises(UnwritableError, match="cascade"):
        write_message(keyed(SelectedValue(value="A", cascade_values="true")), format_)


@pytest.mark.parametrize(
    ("kind", "count", "expected"),
    [
        (ContentConstraint, 1, {"dataSet", "metadataSet", "simpleDataSource"}),
        (AttachmentConstraint, 1, {"dataSets", "metadataSets", "simpleDataSources"}),
        (AttachmentConstraint, 2, {"dataSets", "metadataSets", "simpleDataSources"}),
    ],
)
def test_sets_of_constraints_have_the_names_of_1_0(kind: Any, count: int, expected: set[str]) -> None:
    """A content constraint of 1.0 is attached to single sets and sources, an attachment constraint to lists."""
    sources = ("https://example.org/1", "https://example.org/2")[:count]
    attachment = ConstraintAttachment(data_sets=SETS[:count], metadata_sets=SETS[:count], simple_data_sources=sources)
    one = kind(urn=Urn.of(kind.__name__, "A", "C", "1.0"), names=NAMES, attachment=attachment)
    assert set(written(one, Format.SDMX_JSON_1_0)["constraintAttachment"]) == expected


@pytest.mark.parametrize("attachment", [ConstraintAttachment(data_sets=SETS), ConstraintAttachment(metadata_sets=SETS)])
def test_several_sets_of_a_content_constraint_are_refused(attachment: ConstraintAttachment) -> None:
    """A content constraint of 1.0 has a place for one set of each kind."""
    urn = Urn.of("ContentConstraint", "A", "C", "1.0")
    one = ContentConstraint(urn=urn, names=NAMES, attachment=attachment)
    with pytest.raises(UnwritableError, match="only one"):
        write_message(one, Format.SDMX_JSON_1_0)


def test_metadata_keys_name_single_objects() -> None:
    """A metadata key of 1.0 has one key, set or object for a component; a target region has lists of them."""
    values = (
        MemberSelection(id="KEY", data_keys=(Region(key_values=(MemberSelection(id="FREQ", values=(A,)),)),)),
        MemberSelection(id="SET", data_sets=SETS[:1]),
        MemberSelection(id="OBJECT", objects=(FLOW,)),
    )
    region = Region(key_values=values, report="R", metadata_target="T")
    one = ContentConstraint(
        urn=Urn.of("ContentConstraint", "A", "C", "1.0"),
        names=NAMES,
        metadata_key_sets=(KeySet(keys=(region,)),),
        metadata_target_regions=(region,),
    )
    found = written(one, Format.SDMX_JSON_1_0)
    [key], [target] = found["metadataKeySets"][0]["keys"], found["metadataTargetRegions"]
    assert [sorted(each) for each in key["keyValues"]] == [["dataKey", "id"], ["dataSet", "id"], ["id", "object"]]
    assert [sorted(each) for each in target["keyValues"]] == [["dataKeys", "id"], ["dataSets", "id"], ["id", "objects"]]


def test_items_of_hierarchical_codelists_are_hierarchical_codes() -> None:
    """A map between a codelist and a hierarchical codelist names an item by the class of its list."""
    urn = Urn.of("StructureSet", "A", "SS", "1.0")
    map_ = SchemeMapInSet(
        urn=urn.with_item("HybridCodelistMap", "M"),
        names=NAMES,
        source=Urn.of("HierarchicalCodelist", "A", "H", "1.0"),
        target=Urn.of("Codelist", "A", "CL", "1.0"),
        item_maps=(ItemMap(source=MappedValue(value="X.Y"), target="Z"),),
    )
    one = StructureSet(urn=urn, names=NAMES, scheme_maps=(map_,))
    [pair] = written(one, Format.SDMX_JSON_1_0)["hybridCodelistMaps"][0]["hybridCodeMaps"]
    assert pair["source"] == "urn:sdmx:org.sdmx.infomodel.codelist.HierarchicalCode=A:H(1.0).X.Y"
    assert pair["target"] == "urn:sdmx:org.sdmx.infomodel.codelist.Code=A:CL(1.0).Z"


def test_the_format_of_a_target_object_is_a_text_format() -> None:
    """A target object of 1.0 has a text format next to a codelist, because its schema has no other name for it."""
    urn = Urn.of("MetadataStructure", "A", "MSD", "1.0")
    representation = Representation(
        enumeration=Urn.of("Codelist", "A", "CL", "1.0"), format=TextFormat(text_type="IdentifiableReference")
    )
    target_object = TargetObject(
        urn=urn.with_item("IdentifiableObjectTarget", "T.O"), representation=representation, object_type="Dataflow"
    )
    concept = Urn.of("ConceptScheme", "A", "CS", "1.0").with_item("Concept", "M")
    attribute = MetadataAttribute(urn=urn.with_item("MetadataAttribute", "R.M"), concept=concept)
    report = ReportStructure(
        urn=urn.with_item("ReportStructure", "R"), metadata_attributes=Items({"M": attribute}), metadata_targets=("T",)
    )
    target = MetadataTarget(urn=urn.with_item("MetadataTarget", "T"), target_objects=Items({"O": target_object}))
    one = MetadataStructure(
        urn=urn,
        names=NAMES,
        metadata_attributes=Items({}),
        metadata_targets=Items({"T": target}),
        report_structures=Items({"R": report}),
    )
    [part] = written(one, Format.SDMX_JSON_1_0)["metadataStructureComponents"]["metadataTargets"]
    [found] = part["identifiableObjectTargets"]
    assert set(found["localRepresentation"]) == {"enumeration", "textFormat"}


@pytest.mark.parametrize(
    ("format_", "kind"),
    [(Format.SDMX_JSON_2_0, "structure"), (Format.SDMX_JSON_2_1, "structure"), (Format.SDMX_JSON_2_1, "metadata")],
)
def test_the_header_names_the_schema_by_its_own_address(format_: Format, kind: str) -> None:
    """The address of the schema in the header is the one that the schema itself states."""
    own = json_schema({Format.SDMX_JSON_2_0: "20", Format.SDMX_JSON_2_1: "21"}[format_], kind).schema["$id"]
    one: Any = Codelist(urn=Urn.of("Codelist", "A", "CL", "1.0.0"), names=NAMES, codes=Items({}))
    if kind == "metadata":
        one = metadata_set(ReportedAttribute(id="X", values=("1",)))
    assert json.loads(write_message(one, format_))["meta"]["schema"] == own


def metadata_set(attribute: ReportedAttribute) -> MetadataSet:
    """Return a set with one reported attribute."""
    return MetadataSet(
        urn=Urn.of("MetadataSet", "A", "MS", "1.0.0"),
        names=NAMES,
        metadataflow=Urn.of("Metadataflow", "A", "MF", "1.0.0"),
        targets=(str(FLOW),),
        attributes=(attribute,),
    )


@pytest.mark.parametrize("format_", [Format.SDMX_JSON_2_0, Format.SDMX_JSON_2_1])
def test_structured_texts_are_values_of_the_type_xhtml(format_: Format) -> None:
    """A structured text is written with the type XHTML, unless there are other values next to it."""
    xhtml = InternationalString({"en": "<p>a &amp; b</p>"})
    [found] = written(metadata_set(ReportedAttribute(id="X", structured_texts=xhtml)), format_)["attributes"]
    assert found == {"id": "X", "format": {"dataType": "XHTML"}, "value": {"en": "<p>a &amp; b</p>"}}
    for other in ({"texts": NAMES}, {"values": ("1",)}):
        one = ReportedAttribute(id="X", structured_texts=xhtml, **other)
        with pytest.raises(UnwritableError, match="either values"):
            write_message(metadata_set(one), format_)


@pytest.mark.parametrize(("text", "expected"), [
    ("<p>a<br/>b</p>", f'<p xmlns="{XHTML}">a<br/>b</p>'),
    ("<p class='x'>&#233;</p> t", f'<p xmlns="{XHTML}" class="x">é</p> t'),
    (f"<h:p xmlns:h='{XHTML}'/>", f'<h:p xmlns:h="{XHTML}"/>'),
    ("1 &lt; 2", "1 &lt; 2"),
    ("<!-- a --><p>b<!-- c -->d</p><?e?>", f'<p xmlns="{XHTML}">bd</p>'),
    ("<p xmlns:u='urn:unused'>a</p>", f'<p xmlns="{XHTML}">a</p>'),
])  # fmt: skip
@pytest.mark.parametrize("format_", [Format.SDMX_ML_3_0, Format.SDMX_ML_3_1])
def test_structured_texts_of_sdmx_ml_are_in_the_namespace_of_xhtml(text: str, expected: str, format_: Format) -> None:
    """SDMX-ML requires the namespace of XHTML, which JSON seldom has; reading and writing again changes nothing."""
    texts = InternationalString({"en": text})
    below = ReportedAttribute(id="Y", structured_texts=texts)
    data = write_message(metadata_set(ReportedAttribute(id="X", attributes=(below,))), format_)
    assert f">{expected}</com:StructuredText>".encode() in data
    [found] = read_message(data)
    assert write_message(found, format_) == data


@pytest.mark.parametrize(("text", "reason"), [
    ("<p>", "not well-formed"), ("</a><a>", "not well-formed"), ("<q xmlns='urn:q'/>", "not one of XHTML"),
])  # fmt: skip
def test_other_structured_texts_are_refused_by_sdmx_ml(text: str, reason: str) -> None:
    """A text that would break the message, or that its schema forbids, is named."""
    one = metadata_set(ReportedAttribute(id="X", structured_texts=InternationalString({"en": text})))
    with pytest.raises(UnwritableError, match=reason):
        write_message(one, Format.SDMX_ML_3_0)


@pytest.mark.parametrize("instant", ["2020-01-01T24:00:00Z", "12020-01-01T00:00:00", "-0044-03-15T00:00:00Z"])
def test_instants_that_json_does_not_have_are_refused(instant: str) -> None:
    """An instant of XML that RFC 3339 does not have would make the message invalid; SDMX-ML has it."""
    one = Codelist(urn=Urn.of("Codelist", "A", "CL", "1.0.0"), names=NAMES, codes=Items({}), valid_to=instant)
    assert instant.encode() in write_message(one, Format.SDMX_ML_3_0)
    for format_ in (Format.SDMX_JSON_1_0, Format.SDMX_JSON_2_0, Format.SDMX_JSON_2_1):
        with pytest.raises(UnwritableError, match="RFC 3339"):
            write_message(one, format_)


def test_levels_of_fusion_are_a_list() -> None:
    """The levels of a hierarchy are listed from the top down; formats of levels are refused."""
    urn = Urn.of("Hierarchy", "A", "H", "1.0")
    lower = Level(urn=urn.with_item("Level", "L1.L2"))
    upper = Level(urn=urn.with_item("Level", "L1"), level=lower)
    one = Hierarchy(urn=urn, has_formal_levels=True, level=upper, codes=Items({}))
    own = "urn:sdmx:org.sdmx.infomodel.codelist.Level=A:H(1.0)."
    found = written(one, Format.FUSION_JSON)["levels"]
    assert found == [{"id": "L1", "urn": f"{own}L1"}, {"id": "L2", "urn": f"{own}L2"}]
    coded = Level(urn=urn.with_item("Level", "L1"), coding_format=TextFormat(text_type="String"))
    with pytest.raises(UnwritableError, match="coding format"):
        write_message(Hierarchy(urn=urn, level=coded, codes=Items({})), Format.FUSION_JSON)


JSON_2: Final = [(Format.SDMX_JSON_2_0, "2.0.0"), (Format.SDMX_JSON_2_1, "2.1.0")]


def measured(version: str, *, is_external: bool) -> DataStructure:
    """Return a data structure that was read, with an empty list of dimensions and a measure."""
    lists = {"dimensionList": {}, "measureList": {"measures": [{"id": "M", "conceptIdentity": f"{CONCEPT}M"}]}}
    content = artefact("D", dataStructureComponents=lists, isExternalReference=is_external)
    [found] = read_message(message({"dataStructures": [content]}, version))
    assert isinstance(found, DataStructure)
    return found


@pytest.mark.parametrize(("format_", "version"), JSON_2)
@pytest.mark.parametrize("is_external", [False, True])
def test_a_data_structure_of_measures_alone(format_: Format, version: str, *, is_external: bool) -> None:
    """A measure is read and written without any dimension, and is content also of an external reference."""
    found = measured(version, is_external=is_external)
    assert (found.is_external_reference, found.is_stub) == (is_external, False)
    assert (list(found.measures), list(found.dimension_list)) == (["M"], [])
    one = written(found, format_)
    assert list(one["dataStructureComponents"]) == ["dimensionList", "measureList"]
    assert one["dataStructureComponents"]["dimensionList"] == {}
    assert list(read_message(write_message(found, Format.FUSION_JSON))) == [found]
    for other in (Format.SDMX_ML_3_0, Format.SDMX_ML_3_1):
        with pytest.raises(UnwritableError, match="demands a dimension of a data structure"):
            write_message(found, other)


def test_an_external_reference_to_a_data_structure_has_no_components() -> None:
    """A data structure without any component is a stub if it is an external reference, and is written without lists."""
    content = artefact("D", isExternalReference=True, dataStructureComponents={"dimensionList": {}})
    [found] = read_message(message({"dataStructures": [content]}))
    assert isinstance(found, DataStructure)
    assert found.is_stub
    assert "dataStructureComponents" not in written(found, Format.SDMX_JSON_2_0)
    content["isExternalReference"] = False
    [plain] = read_message(message({"dataStructures": [content]}))
    assert not plain.is_stub
    assert "dataStructureComponents" not in written(plain, Format.SDMX_JSON_2_0)


@pytest.mark.parametrize(("format_", "version"), JSON_2)
def test_a_wildcarded_value_may_be_an_id(format_: Format, version: str) -> None:
    """Ids among the patterns of a selection are written with the other ids; the order has no meaning."""
    selection = {"wildcardedMemberValues": ["X", "abc%"], "memberValues": [{"value": "A"}]}
    extension = {"codelist": CODELIST, "exclusiveCodeSelection": selection}
    [found] = read_message(message({"codelists": [artefact("CL2", codelistExtensions=[extension])]}, version))
    assert isinstance(found, Codelist)
    assert [one.value for one in found.extensions[0].exclusive] == ["X", "abc%", "A"]
    one = written(found, format_)
    assert one["codelistExtensions"][0]["exclusiveCodeSelection"] == {
        "wildcardedMemberValues": ["abc%"],
        "memberValues": [{"value": "X"}, {"value": "A"}],
    }


def test_selections_of_sdmx_ml_in_any_order() -> None:
    """A selection that has ids before patterns, as SDMX-ML allows, is written to SDMX-JSON, and unchanged elsewhere."""
    members = tuple(MemberValue(value) for value in ("B", "A%", "C", "D%"))
    extension = CodelistExtension(codelist=Urn.parse(CODELIST), inclusive=members)
    one = Codelist(urn=Urn.of("Codelist", "A", "CL2", "1.0.0"), names=NAMES, codes=Items({}), extensions=(extension,))
    for format_ in (Format.SDMX_JSON_2_0, Format.SDMX_JSON_2_1):
        [found] = read_message(write_message(one, format_))
        assert isinstance(found, Codelist)
        assert [each.value for each in found.extensions[0].inclusive] == ["A%", "D%", "B", "C"]
    assert list(read_message(write_message(one, Format.SDMX_ML_3_0))) == [one]
