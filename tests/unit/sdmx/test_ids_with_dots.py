"""Ids with dots, which the schema of 1.0 allows for codes and concepts: the own id is the whole id in every place."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from kafka_replica.sdmx import Codelist, Urn, explain_unwritable, read_message, write_message
from kafka_replica.sdmx.containers import Items
from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.lookups.items import item_of
from kafka_replica.sdmx.messages.format import Format
from kafka_replica.sdmx.model import (
    Artefact,
    Code,
    ConceptScheme,
    DataStructure,
    HierarchicalCode,
    HierarchicalCodelist,
    HierarchyOfCodelist,
)
from kafka_replica.sdmx.urns.classes import CLASSES, WITH_PATHS
from kafka_replica.sdmx.urns.urn import own_id
from support.effort import examples
from support.sdmx.standard_schemas import faults

V10: Final = "http://www.SDMX.org/resources/SDMXML/schemas/v1_0"
V20: Final = "http://www.SDMX.org/resources/SDMXML/schemas/v2_0"
CODES: Final = (".01", ".1", "1", "1.", "1.5", "A:B", "Index:_1986_Jun_30_0.01_USD")
WITHOUT_SCHEMA: Final = (Format.FUSION_JSON, Format.EDI)
WITH_SCHEMA: Final = [
    one for one in Format if one not in {*WITHOUT_SCHEMA, Format.SDMX_ML_1_0, Format.XLSX}
]  # fmt: skip


def message_10(body: str) -> bytes:
    """Return a valid message of SDMX-ML 1.0."""
    data = (
        f'<m:Structure xmlns:m="{V10}/message" xmlns:s="{V10}/structure"><m:Header><m:ID>x</m:ID><m:Test>false</m:Test>'
        f'<m:Prepared>2020-01-01</m:Prepared><m:Sender id="F"/></m:Header>{body}</m:Structure>'
    ).encode()
    assert faults("10", data) == []
    return data


def codelist_10(*codes: str) -> str:
    """Return a list with these codes, whose names are their values."""
    found = [f'<s:Code value="{one}"><s:Description>{one}</s:Description></s:Code>' for one in codes]
    return f'<m:CodeLists><s:CodeList id="CL" agency="F"><s:Name>n</s:Name>{"".join(found)}</s:CodeList></m:CodeLists>'


def codelist(*codes: str) -> Codelist:
    """Return a list with these codes, read from 1.0."""
    [found] = read_message(message_10(codelist_10(*codes)))
    assert isinstance(found, Codelist)
    return found


KEY_FAMILY: Final = message_10(
    codelist_10(".1", "1") + '<m:Concepts><s:Concept id="A.B" agency="F"><s:Name>one</s:Name></s:Concept>'
    '<s:Concept id="B" agency="F"><s:Name>two</s:Name></s:Concept></m:Concepts>'
    '<m:KeyFamilies><s:KeyFamily id="K" agency="F"><s:Name>k</s:Name><s:Components>'
    '<s:Dimension concept="A.B" codelist="CL"/><s:Dimension concept="B" codelist="CL"/>'
    '<s:TimeDimension concept="T.I"/><s:Group id="G.1"><s:DimensionRef>A.B</s:DimensionRef></s:Group>'
    '<s:PrimaryMeasure concept="OBS_VALUE"/>'
    '<s:Attribute concept="X.B" attachmentLevel="Series" assignmentStatus="Mandatory"/>'
    "</s:Components></s:KeyFamily></m:KeyFamilies>"
)


def ids(items: Mapping[str, Any]) -> list[str]:
    """Return the ids of items, which equal their keys."""
    assert [item.id for item in items.values()] == list(items)
    return list(items)


def test_each_code_has_its_whole_value_as_its_id() -> None:
    """No two codes of a valid list of 1.0 have the same id."""
    found = codelist(*CODES)
    assert ids(found.codes) == list(CODES)
    assert [code.name() for code in found.codes.values()] == list(CODES)
    assert [item_of(found, "Code", one) for one in CODES] == [found.codes[one] for one in CODES]


def test_codes_with_dots_are_written_again_in_1_0() -> None:
    """The list is valid in its own format, and equal when it is read again."""
    found = codelist(*CODES)
    data = write_message(found, Format.SDMX_ML_1_0)
    assert faults("10", data) == []
    assert list(read_message(data)) == [found]


@pytest.mark.thorough
@settings(max_examples=examples(40), deadline=None)
@given(st.lists(st.text("aZ1_-.:", min_size=1, max_size=6), min_size=1, max_size=6, unique=True))
def test_any_list_of_1_0_is_written_whole_or_not_at_all(codes: list[str]) -> None:
    """Every format keeps all codes with their ids, or refuses the list; 1.0 always keeps them."""
    found = codelist(*codes)
    assert ids(found.codes) == codes
    for format_ in Format:
        try:
            data = write_message(found, format_)
        except UnwritableError:
            assert format_ is not Format.SDMX_ML_1_0
            continue
        [again] = read_message(data)
        assert isinstance(again, Codelist)
        assert ids(again.codes) == codes
        if format_.title.startswith("SDMX-ML"):
            assert faults(format_.title[-3:].replace(".", ""), data) == []


@pytest.mark.parametrize("code", [one for one in CODES if one != "1"])
@pytest.mark.parametrize("format_", WITH_SCHEMA, ids=lambda one: one.title)
def test_formats_whose_schemas_forbid_the_id_name_it(format_: Format, code: str) -> None:
    """The reason names the code, and the advice names a format that can represent it."""
    with pytest.raises(UnwritableError) as raised:
        write_message(codelist("1", code), format_)
    assert f"the format cannot represent the id {code!r} of a Code; choose application/" in str(raised.value)


@pytest.mark.parametrize("format_", WITHOUT_SCHEMA, ids=lambda one: one.title)
def test_formats_without_a_schema_keep_what_a_urn_can_hold(format_: Format) -> None:
    """In Fusion-JSON and SDMX-EDI the id may have a dot inside; of other ids, the reason names the first."""
    found = codelist("1.5", "5")
    assert list(read_message(write_message(found, format_))) == [found]
    assert "'.5' cannot be an id" in (explain_unwritable(codelist(".5", "5"), format_) or "")


def test_concepts_and_components_have_the_whole_id() -> None:
    """Concepts, components and groups of a key family of 1.0 with dots differ from those with the last part."""
    message = read_message(KEY_FAMILY)
    assert message.errors == ()
    _, scheme, structure = message
    assert isinstance(scheme, ConceptScheme)
    assert isinstance(structure, DataStructure)
    assert ids(scheme.concepts) == ["A.B", "B"]
    assert ids(structure.dimension_list) == ["A.B", "B", "TIME_PERIOD"]
    assert ids(structure.attributes) == ["X.B"]
    assert ids(structure.groups) == ["G.1"]
    assert item_of(structure, "Dimension", "A.B") is structure.dimension_list["A.B"]
    assert item_of(scheme, "Concept", "A.B") is scheme.concepts["A.B"]


def test_a_key_family_with_dots_is_written_again_in_1_0() -> None:
    """All artefacts of the message are valid in 1.0, and equal when they are read again."""
    message = read_message(KEY_FAMILY)
    data = write_message(list(message), Format.SDMX_ML_1_0)
    assert faults("10", data) == []
    assert list(read_message(data)) == list(message)


@pytest.mark.parametrize("format_", WITH_SCHEMA, ids=lambda one: one.title)
def test_later_formats_refuse_concepts_and_components_with_dots(format_: Format) -> None:
    """The reason names the id of the concept, or of the component."""
    _, scheme, structure = read_message(KEY_FAMILY)
    assert "the id 'A.B' of a Concept" in (explain_unwritable(scheme, format_) or "")
    assert "the id 'A.B' of a Dimension" in (explain_unwritable(structure, format_) or "")


def hierarchy_of(code: str) -> Artefact:
    """Return a hierarchical codelist with one code of another list."""
    urn = Urn.of("HierarchicalCodelist", "F", "HCL", "1.0")
    target = Urn.of("Code", "F", "CL", "1.0", code)
    own = HierarchicalCode(urn=urn.with_item("HierarchicalCode", "H.N"), code=target)
    one = HierarchyOfCodelist(urn=urn.with_item("Hierarchy", "H"), codes=Items({"N": own}))
    names = codelist("1").names
    return HierarchicalCodelist(urn=urn, names=names, hierarchies=Items({"H": replace(one, names=names)}))


def test_a_reference_to_a_code_with_a_dot_is_valid_or_refused() -> None:
    """In 2.1 the schema of such a reference allows no dot, so the reason names the id."""
    assert faults("21", write_message(hierarchy_of("A"), Format.SDMX_ML_2_1)) == []
    reason = explain_unwritable(hierarchy_of("1.5"), Format.SDMX_ML_2_1) or ""
    assert "the format cannot represent the id '1.5' in a reference to a Code" in reason


def test_children_of_a_code_with_a_dot_are_found() -> None:
    """Parents, children and descendants name each other by the whole id."""
    urn = Urn.of("Codelist", "F", "CL", "1.0")
    parents = {"1.5": None, "5": None, "X": "1.5", ".2": "X"}
    codes = {
        id_: Code(urn=Urn(urn.package, "Code", urn.agency, urn.id, urn.version, id_), parent=parent)
        for id_, parent in parents.items()
    }
    found = Codelist(urn=urn, codes=Items(codes))
    assert found.children_of("1.5") == (codes["X"],)
    assert found.descendants_of("1.5") == (codes["X"], codes[".2"])
    assert found.descendants_of("5") == ()
    assert found.ancestors_of(".2") == (codes["X"], codes["1.5"])


def test_a_parent_given_by_its_urn_is_the_whole_id() -> None:
    """In 2.1, a parent may be a URN; the codes are those of a list that has a dot in an id."""
    v21 = "http://www.sdmx.org/resources/sdmxml/schemas/v2_1"
    urn = "urn:sdmx:org.sdmx.infomodel.codelist.Code=F:CL(1.0).1.5"
    data = (
        f'<m:Structure xmlns:m="{v21}/message" xmlns:s="{v21}/structure" xmlns:c="{v21}/common"><m:Header/>'
        '<m:Structures><s:Codelists><s:Codelist id="CL" agencyID="F" version="1.0"><c:Name>n</c:Name>'
        '<s:Code id="1.5"><c:Name>a</c:Name></s:Code><s:Code id="5"><c:Name>b</c:Name></s:Code>'
        f'<s:Code id="X"><c:Name>c</c:Name><s:Parent><URN>{urn}</URN></s:Parent></s:Code>'
        "</s:Codelist></s:Codelists></m:Structures></m:Structure>"
    ).encode()
    [found] = read_message(data)
    assert isinstance(found, Codelist)
    assert ids(found.codes) == ["1.5", "5", "X"]
    assert found.codes["X"].parent == "1.5"


def test_a_component_without_an_id_has_the_id_of_its_concept() -> None:
    """The last part of a path of concepts, which some messages write, is the id of the concept: in SDMX-ML and JSON."""
    concept = "urn:sdmx:org.sdmx.infomodel.conceptscheme.Concept=F:CS(1.0).P.C"
    v30 = "http://www.sdmx.org/resources/sdmxml/schemas/v3_0"
    ml = (
        f'<m:Structure xmlns:m="{v30}/message" xmlns:s="{v30}/structure" xmlns:c="{v30}/common"><m:Header/>'
        '<m:Structures><s:DataStructures><s:DataStructure id="D" agencyID="F" version="1.0"><c:Name>n</c:Name>'
        '<s:DataStructureComponents><s:DimensionList id="DimensionDescriptor"><s:Dimension>'
        f"<s:ConceptIdentity>{concept}</s:ConceptIdentity></s:Dimension></s:DimensionList></s:DataStructureComponents>"
        "</s:DataStructure></s:DataStructures></m:Structures></m:Structure>"
    ).encode()
    dimensions = {"id": "DimensionDescriptor", "dimensions": [{"conceptIdentity": concept}]}
    structure = {
        "id": "D",
        "agencyID": "F",
        "version": "1.0",
        "name": "n",
        "dataStructureComponents": {"dimensionList": dimensions},
    }
    schema = "https://json.sdmx.org/2.0.0/sdmx-json-structure-schema.json"
    in_json = json.dumps({"meta": {"schema": schema}, "data": {"dataStructures": [structure]}}).encode()
    for data in (ml, in_json):
        [found] = read_message(data)
        assert isinstance(found, DataStructure)
        assert ids(found.dimension_list) == ["C"]


def test_tables_show_the_whole_id() -> None:
    """Tables of codes have the whole ids."""
    pytest.importorskip("polars")
    from kafka_replica.sdmx.tables import to_polars

    table = to_polars(codelist(*CODES))
    assert table["id"].to_list() == list(CODES) == table["name"].to_list()


@pytest.mark.parametrize("class_", sorted(CLASSES))
def test_only_items_with_paths_have_the_last_part_as_their_id(class_: str) -> None:
    """The own id of an item is the end of its path if items of its class are inside other items."""
    urn = Urn("package", class_, "F", "ID", "1.0", "A.B")
    assert own_id(urn) == ("B" if class_ in WITH_PATHS else "A.B")
    assert own_id(urn.maintainable) == "ID"
