"""A query selects the artefacts, items, references and details that SDMX REST says."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from msgspec import structs

from kafka_replica.sdmx import Format, Items, Message, Structures, Urn, read_message, write_message
from kafka_replica.sdmx.containers import InternationalString
from kafka_replica.sdmx.model import (
    Artefact,
    Codelist,
    CodelistExtension,
    DataConstraint,
    DataStructure,
    ValueItem,
    ValueList,
)
from kafka_replica.sdmx.model.representation import Representation
from kafka_replica.server.rest import RestRequest, RestSettings, answer
from support.sdmx.sdmx_corpus import FakeSnapshot, record
from support.server.registry import ARTEFACTS, codelist, named, urn, version_of

REGISTRY = version_of(ARTEFACTS.values())


def message(path: str, query: str = "", structures: Structures = REGISTRY, **settings: Any) -> Message:
    """Return the message that answers a query, as SDMX-JSON 2.1."""
    made = answer(RestRequest(path, query, str(Format.SDMX_JSON_2_1)), structures, RestSettings(**settings))
    assert made.status == 200, made.body
    return read_message(made.body)


def found(path: str, query: str = "", structures: Structures = REGISTRY) -> set[str]:
    """Return the artefacts of an answer, with their classes."""
    return {f"{artefact.cls} {artefact.reference}" for artefact in message(path, query, structures).artefacts}


def ids(artefact: Artefact) -> list[str]:
    """Return the ids of the items of a scheme."""
    return list(artefact.items) if hasattr(artefact, "items") else [value.id for value in artefact.values]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("path", "references"),
    [
        ("structure/codelist/ECB/CL_FREQ", {"ECB:CL_FREQ(2.1.0-draft)"}),
        ("structure/codelist/ECB/CL_FREQ/+", {"ECB:CL_FREQ(2.0.0)"}),
        ("codelist/ECB/CL_FREQ", {"ECB:CL_FREQ(2.0.0)"}),
        ("structure/codelist/ECB/CL_FREQ/1.0", {"ECB:CL_FREQ(1.0)"}),
        ("structure/codelist/ECB/CL_FREQ/1.0,2.0.0", {"ECB:CL_FREQ(1.0)", "ECB:CL_FREQ(2.0.0)"}),
        ("codelist/ECB/CL_FREQ/1.0+2.0.0", {"ECB:CL_FREQ(1.0)", "ECB:CL_FREQ(2.0.0)"}),
        ("structure/codelist/ECB/CL_FREQ/1.*", {"ECB:CL_FREQ(1.0)", "ECB:CL_FREQ(1.1)"}),
        ("structure/codelist/*/CL_FREQ/1.0", {"ECB:CL_FREQ(1.0)", "BIS:CL_FREQ(1.0)"}),
        ("structure/codelist/BIS,ECB.DISS/*/*", {"BIS:CL_FREQ(1.0)", "ECB.DISS:CL_AREA(1.0)"}),
        ("structure/codelist/ECB/CL_FREQ,CL_MORE/+", {"ECB:CL_FREQ(2.0.0)", "ECB:CL_MORE(1.0.0)"}),
        ("codelist/all/CL_AREA/all", {"ECB.DISS:CL_AREA(1.0)"}),
        ("structure/*/*/EXR", {"ECB:EXR(1.0)"}),
        ("organisationscheme/ECB", {"ECB:AGENCIES(1.0)", "ECB:DATA_PROVIDERS(1.0)"}),
        ("allowedconstraint", {"ECB:EXR_CODES(1.0)"}),
        ("structure/dataconstraint", {"ECB:EXR_CODES(1.0)"}),
    ],
)
def test_agencies_ids_and_versions_select(path: str, references: set[str]) -> None:
    """Lists, wildcards, version expressions and sub-agencies (as written) select these artefacts and no others."""
    accept = str(Format.SDMX_JSON_2_1)
    made = answer(RestRequest(path, "", accept), REGISTRY)
    assert {artefact.reference for artefact in read_message(made.body).artefacts} == references


@pytest.mark.parametrize(
    "path",
    [
        "structure/codelist/ECB/NONE", "structure/codelist/DISS", "actualconstraint",
        "structure/codelist/ECB/CL_FREQ/3.0", "structure/codelist/ECB/CL_FREQ/1.0/X",
        "structure/categoryscheme/ECB/DOMAINS/1.0/ECO.NONE", "structure/categoryscheme/ECB/DOMAINS/1.0/NONE",
    ],
)  # fmt: skip
def test_nothing_is_found_where_nothing_matches(path: str) -> None:
    """An empty result is 404 with the standard's code, or 204 without a body if the service says so."""
    made = answer(RestRequest(path), REGISTRY)
    assert made.status == 404
    assert (b'code="100"' if made.body.startswith(b"<") else b'"code": 404') in made.body
    assert answer(RestRequest(path), REGISTRY, RestSettings(empty_status=204))[::2] == (204, b"")


@pytest.mark.thorough
def test_every_artefact_is_found_by_its_exact_address_and_by_wildcards() -> None:
    """The wildcard resource has all artefacts; those that a query finds equal those that a look-up returns."""
    every = message("structure/*/*/*/*", "detail=raw&format=sdmx-3.0")
    assert set(every.artefacts) == set(ARTEFACTS)
    for one, artefact in every.artefacts.items():
        assert artefact == REGISTRY.get(one)


def test_an_item_query_returns_a_partial_scheme() -> None:
    """Items of flat lists come alone; nested items with those above and none below; unknown items are left out."""
    flat = message("structure/codelist/ECB/CL_FREQ/1.0/A,D,X").artefacts[urn("Codelist ECB:CL_FREQ(1.0)")]
    assert (ids(flat), flat.is_partial) == (["A", "D"], True)
    nested = message("categoryscheme/ECB/DOMAINS/1.0/ECO.PRICES").artefacts[urn("CategoryScheme ECB:DOMAINS(1.0)")]
    assert (ids(nested), nested.is_partial) == (["ECO"], True)
    economy = nested.items["ECO"]  # type: ignore[attr-defined]
    assert (list(economy.categories), list(economy.categories["PRICES"].categories)) == (["PRICES"], [])
    by_id = message("categoryscheme/ECB/DOMAINS/1.0/HICP").artefacts[urn("CategoryScheme ECB:DOMAINS(1.0)")]
    assert by_id == message("categoryscheme/ECB/DOMAINS/1.0/ECO.PRICES.HICP").artefacts[by_id.urn]
    values = message("structure/valuelist/ECB/VL_UNIT/1.0/%E2%82%AC").artefacts[urn("ValueList ECB:VL_UNIT(1.0)")]
    assert ids(values) == ["€"]
    every = message("structure/codelist/ECB/CL_FREQ/1.0/*").artefacts[urn("Codelist ECB:CL_FREQ(1.0)")]
    assert (ids(every), every.is_partial) == (["A", "M", "Q", "D"], False)


def test_a_full_codelist_has_the_codes_it_inherits_and_a_raw_one_has_its_extensions() -> None:
    """``raw`` returns the artefact as it is stored; all other details, also items, see the inherited codes."""
    more = urn("Codelist ECB:CL_MORE(1.0.0)")
    full, raw = (
        message("structure/codelist/ECB/CL_MORE", f"detail={detail}").artefacts[more] for detail in ("full", "raw")
    )
    assert isinstance(full, Codelist)
    assert isinstance(raw, Codelist)
    assert (ids(full), full.extensions) == (["A", "M", "Q", "D", "H"], ())
    assert (ids(raw), len(raw.extensions)) == (["H"], 1)
    assert ids(message("structure/codelist/ECB/CL_MORE/+/Q").artefacts[more]) == ["Q"]
    children = "references=children"
    assert found("structure/codelist/ECB/CL_MORE", children) == {
        "Codelist ECB:CL_MORE(1.0.0)",
        "AgencyScheme SDMX:AGENCIES(1.0)",
    }
    assert "Codelist ECB:CL_FREQ(1.0)" in found("structure/codelist/ECB/CL_MORE", f"detail=raw&{children}")


@pytest.mark.parametrize("detail", ["allstubs", "allcompletestubs", "referencestubs"])
def test_an_inherited_code_matches_whatever_the_detail(detail: str) -> None:
    """The detail decides how much is returned of what matches (SDMX REST, structures.md)."""
    assert found("structure/codelist/ECB/CL_MORE/1.0.0/Q", f"detail={detail}") == {"Codelist ECB:CL_MORE(1.0.0)"}


@pytest.mark.parametrize("detail", ["allstubs", "referencestubs", "referencecompletestubs"])
def test_stubs_need_no_inherited_codes(detail: str) -> None:
    """The stub of a related codelist is returned even if the list that it extends is missing."""
    broken = codelist("Codelist ECB:CL_BROKEN(1.0)", "X", extensions=(
        CodelistExtension(codelist=urn("Codelist ECB:CL_MISSING(1.0)")),
    ))  # fmt: skip
    structures = version_of([*ARTEFACTS.values(), broken, _with_codes_of(broken)])
    query = f"references=codelist&detail={detail}"
    assert "Codelist ECB:CL_BROKEN(1.0)" in found("structure/datastructure/ECB/EXR", query, structures)
    if detail == "allstubs":  # nor does the stub of a codelist whose own code matches
        path = "structure/codelist/ECB/CL_BROKEN/1.0"
        assert found(f"{path}/X", f"detail={detail}", structures) == {"Codelist ECB:CL_BROKEN(1.0)"}
        assert answer(RestRequest(f"{path}/Y", f"detail={detail}"), structures).status == 404


def _with_codes_of(codelist: Codelist) -> DataStructure:
    """Return the data structure of the registry with another codelist of its first dimension."""
    structure = ARTEFACTS[urn(DSD)]
    assert isinstance(structure, DataStructure)
    dimensions = dict(structure.dimension_list.items())
    dimensions["FREQ"] = structs.replace(dimensions["FREQ"], representation=Representation(enumeration=codelist.urn))
    return structs.replace(structure, dimension_list=Items(dimensions))


@pytest.mark.parametrize("lists", [90, 120])
def test_a_format_that_represents_all_is_found_for_answers_of_any_size(lists: int) -> None:
    """SDMX-ML 2.1 comes first here, but cannot represent drafts; an artefact more or less changes no format."""
    many = [codelist(f"Codelist MANY:CL_{number}(1.0)", "A") for number in range(lists)]
    drafts = [codelist(f"Codelist MANY:CL_DRAFT{number}(1.0.0-draft)", "A") for number in range(2)]
    structures = version_of([*many, *drafts])
    given = answer(RestRequest("codelist/MANY/all/all", "", "*/*"), structures)
    assert len(read_message(given.body)) == lists + 2
    assert "Kafka-Replica-Omitted" not in dict(given.headers)
    of_both = f"{Format.SDMX_ML_2_1}, {Format.EDI};q=0.5"
    given = answer(RestRequest("codelist/MANY/all/all", "", of_both), structures)
    assert dict(given.headers)["Kafka-Replica-Omitted"] == "2"


def test_a_large_answer_is_written_only_in_formats_that_omit_less() -> None:
    """Formats that omit as much as the best one so far are not written: each would take as long as the answer."""
    written: list[str] = []

    def write(artefacts: Any, format_: str, header: Any) -> bytes:
        written.append(format_)
        return write_message(artefacts, format_, header)

    many = [codelist(f"Codelist MANY:CL_{number}(1.0)", "A") for number in range(120)]
    draft = codelist("Codelist MANY:CL_DRAFT(1.0.0-draft)", "A")
    structures = version_of([*many, draft])
    accept = f"{Format.SDMX_ML_2_1}, {Format.XLSX};q=0.9, {Format.SDMX_ML_3_0};q=0.8"
    given = answer(RestRequest("codelist/MANY/all/all", "", accept), structures, RestSettings(write=write))
    assert "Kafka-Replica-Omitted" not in dict(given.headers)
    assert written == [Format.SDMX_ML_2_1, Format.SDMX_ML_2_1, Format.SDMX_ML_3_0]


@pytest.mark.parametrize("references", ["children", "codelist", "descendants"])
def test_raw_references_have_the_codelists_that_codelists_extend(references: str) -> None:
    """Without them the codes of a component are unknown; a codelist with inherited codes needs none of them."""
    most = codelist("Codelist ECB:CL_MOST(1.0)", "X", extensions=(
        CodelistExtension(codelist=urn("Codelist ECB:CL_MORE(1.0.0)")),
    ))  # fmt: skip
    changed = _with_codes_of(most)
    structures = version_of({**ARTEFACTS, most.urn: most, changed.urn: changed}.values())
    path, inherited = "structure/datastructure/ECB/EXR", {"Codelist ECB:CL_MORE(1.0.0)", "Codelist ECB:CL_FREQ(1.0)"}
    raw = found(path, f"detail=raw&references={references}", structures)
    assert raw >= inherited | {"Codelist ECB:CL_MOST(1.0)"}
    full = found(path, f"references={references}", structures)
    assert raw - full == inherited
    assert not inherited & found(path, "detail=raw&references=conceptscheme", structures)


VALUES = "structure/valuelist/ECB/VL/1.0/"


def value_list(*ids_: str) -> ValueList:
    """Return a value list."""
    values = tuple(ValueItem(id=id_, names=InternationalString({"en": id_})) for id_ in ids_)
    return ValueList(value_items=values, **named("ValueList ECB:VL(1.0)"))


def test_a_value_is_found_by_any_id() -> None:
    """A comma in an id is percent-encoded; an encoded comma separates ids if no value has the whole text as its id."""
    own = value_list("a,b", "a", "all", "a/b", "c")
    structures = version_of([own, codelist("Codelist ECB:CL(1.0)", "a c")])
    expected = {"a%2Cb": ["a,b"], "a%2Cb,c": ["a,b", "c"], "a,b": ["a"], "a%2Cc": ["a", "c"], "a%2Fb": ["a/b"],
                "all": ["all"], "a,all": ["a", "all"], "*": ids(own)}  # fmt: skip
    for items, selected in expected.items():
        assert ids(message(VALUES + items, "", structures).artefacts[own.urn]) == selected
    every = message("structure/*/ECB/*/1.0/a%2Cc", "", structures).artefacts
    assert {urn.id: ids(artefact) for urn, artefact in every.items()} == {"VL": ["a", "c"], "CL": ["a", "c"]}


@pytest.mark.parametrize(
    ("items", "selected"),
    [
        ("a%2C*", ["a", "b", "*"]),
        ("%2A", ["a", "b", "*"]),
        ("a,b%2C%2A", ["a", "b", "*"]),
        ("all%2Cx", ["a", "b", "*"]),
        ("a%2Call", ["a", "b", "*"]),
        ("a%2C,b", ["b"]),
        ("a%2C%2Cb,a", ["a"]),
    ],
)
def test_an_encoded_comma_in_items_of_a_value_list_without_such_an_id(items: str, selected: list[str]) -> None:
    """Keywords between encoded commas mean all items; another text can only be the id of a value."""
    own = value_list("a", "b", "*")
    structures = version_of([own])
    assert ids(message(f"{VALUES}{items}", "", structures).artefacts[own.urn]) == selected


def test_a_value_with_a_comma_and_a_keyword_in_its_id_is_found() -> None:
    """The whole text takes precedence over its parts; a comma at the end belongs to an id, too."""
    own = value_list("a", "a,*", "all", "all,a", "b,", ",")
    structures = version_of([own])
    for items, selected in {"a%2C*": ["a,*"], "all%2Ca": ["all,a"], "all%2Cb": ["all"], "b%2C": ["b,"],
                            "%2C,a": ["a", ","]}.items():  # fmt: skip
        assert ids(message(f"{VALUES}{items}", "", structures).artefacts[own.urn]) == selected


@pytest.mark.parametrize("items", ["a%2C", "a%2C%2Cb", "%2C"])
def test_an_encoded_comma_without_an_id_at_each_side_selects_no_parts(items: str) -> None:
    """There is no value with this id, and no list of ids."""
    accept = str(Format.SDMX_JSON_2_1)
    assert answer(RestRequest(f"{VALUES}{items}", "", accept), version_of([value_list("a", "b")])).status == 404


def test_a_stub_of_a_value_list_has_no_items() -> None:
    """An item query finds it only with the keyword for all items; an answer with other artefacts lacks it."""
    stub = structs.replace(value_list(), is_external_reference=True, structure_url="https://example.org/VL")
    other = codelist("Codelist ECB:CL(1.0)", "a b")
    structures = version_of([stub, other])
    accept = str(Format.SDMX_JSON_2_1)
    assert answer(RestRequest(f"{VALUES}a", "", accept), structures).status == 404
    assert found(f"{VALUES}all", "", structures) == {"ValueList ECB:VL(1.0)"}
    assert found("structure/*/ECB/*/1.0/a", "", structures) == {"Codelist ECB:CL(1.0)"}


@pytest.mark.parametrize(
    ("items", "is_stored"), [("", True), ("/*", True), ("/all", True), ("/A,all", True), ("/A", False), ("/A,B", False)]
)
@pytest.mark.parametrize("resource", ["codelist", "*"])
def test_all_items_of_one_artefact_are_its_stored_bytes(resource: str, items: str, *, is_stored: bool) -> None:
    """Also with the keyword ``all``, unless there is an item with this id; a selection is written."""
    for codes in ("A B", "A all B"):
        own = codelist("Codelist ECB:CL(1.0)", codes)
        data = write_message(own, Format.SDMX_ML_3_0) + b"<!-- stored -->"
        structures = Structures(FakeSnapshot({bytes(own.urn): record(bytes(own.urn), data, str(Format.SDMX_ML_3_0))}))
        path = f"v2/structure/{resource}/ECB/CL/1.0{items}"
        made = answer(RestRequest(path, "", str(Format.SDMX_ML_3_0)), structures)
        assert made.status == 200
        assert (made.body == data) == (is_stored and not ("all" in codes and "all" in items))


def test_the_item_all_is_a_keyword_only_if_there_is_no_such_item() -> None:
    """The standard of 2.x reserves only ``*``; with an item ``all``, the answer is marked as partial."""
    own, other = codelist("Codelist ECB:CL(1.0)", "A all"), codelist("Codelist ECB:CL_OTHER(1.0)", "A B")
    structures = version_of([own, other])
    found = message("structure/codelist/ECB/*/1.0/all", "references=none", structures).artefacts
    assert (ids(found[own.urn]), found[own.urn].is_partial) == (["all"], True)
    assert (ids(found[other.urn]), found[other.urn].is_partial) == (["A", "B"], False)
    both = message("structure/codelist/ECB/*/1.0/B,all", "", structures).artefacts
    assert (ids(both[own.urn]), ids(both[other.urn])) == (["all"], ["A", "B"])
    of_1_x = message("codelist/ECB/CL/1.0/all", "", structures).artefacts[own.urn]
    assert (ids(of_1_x), of_1_x.is_partial) == (["A", "all"], False)


FLOW = "Dataflow ECB:EXR(1.0)"
DSD = "DataStructure ECB:EXR(1.0)"
TOP = "AgencyScheme SDMX:AGENCIES(1.0)"
PARENTS = {
    "Categorisation ECB:EXR_IN_PRICES(1.0)", "DataConstraint ECB:EXR_CODES(1.0)", "ProvisionAgreement ECB:EXR_P1(1.0)",
    "HierarchyAssociation ECB:HA_AREA(1.0)",
}  # fmt: skip
SIBLINGS = {
    "CategoryScheme ECB:DOMAINS(1.0)", "DataProviderScheme ECB:DATA_PROVIDERS(1.0)", "Hierarchy ECB:H_AREA(1.0)",
    DSD, TOP,
}  # fmt: skip
BELOW = {
    DSD, TOP, "ConceptScheme ECB:CONCEPTS(1.0)", "Codelist ECB:CL_FREQ(1.0)", "Codelist ECB.DISS:CL_AREA(1.0)",
    "ValueList ECB:VL_UNIT(1.0)", "AgencyScheme ECB:AGENCIES(1.0)",
}  # fmt: skip


@pytest.mark.parametrize(
    ("references", "added"),
    [
        ("none", set()),
        ("parents", PARENTS),
        ("ancestors", PARENTS),
        ("parentsandsiblings", PARENTS | SIBLINGS),
        ("children", {DSD, TOP}),
        ("descendants", BELOW),
        ("all", PARENTS | SIBLINGS | BELOW),
        ("provisionagreement", {"ProvisionAgreement ECB:EXR_P1(1.0)"}),
        ("datastructure,dataconstraint", {DSD, "DataConstraint ECB:EXR_CODES(1.0)"}),
        ("codelist", set()),
    ],
)
def test_references_add_artefacts(references: str, added: set[str]) -> None:
    """Each value adds these artefacts to a dataflow; the name of a resource adds parents and children only."""
    assert found("structure/dataflow/ECB/EXR", f"references={references}") == {FLOW} | added


def test_references_of_1_x_have_no_agency_schemes() -> None:
    """The table of 1.5 lists agency schemes for no artefact but those of VTL."""
    assert found("dataflow/ECB/EXR", "references=descendants") == {FLOW} | {one for one in BELOW if "Agency" not in one}


def test_references_of_items_are_those_of_the_items() -> None:
    """Only the categorisations of the selected category, or of those above it, are its parents."""
    path = "structure/categoryscheme/ECB/DOMAINS/1.0/"
    categorised = {"CategoryScheme ECB:DOMAINS(1.0)", "Categorisation ECB:EXR_IN_PRICES(1.0)"}
    assert found(f"{path}ECO.PRICES", "references=parents") == categorised
    assert found(f"{path}ECO.PRICES.HICP", "references=categorisation") == categorised
    assert found(f"{path}ECO.TRADE", "references=parents") == {"CategoryScheme ECB:DOMAINS(1.0)"}


def test_artefacts_of_an_agency_are_parents_of_its_scheme() -> None:
    """All artefacts of an agency are parents of its scheme; those of other agencies are not."""
    assert found("structure/agencyscheme/SDMX/AGENCIES/1.0/BIS", "references=parents") == {
        TOP,
        "Codelist BIS:CL_FREQ(1.0)",
    }
    assert found("structure/agencyscheme/ECB", "references=codelist") == {
        "AgencyScheme ECB:AGENCIES(1.0)", "Codelist ECB.DISS:CL_AREA(1.0)",
    }  # fmt: skip


def test_an_agency_scheme_belongs_to_the_artefacts_of_agencies_that_it_holds() -> None:
    """An agency that the scheme does not list, and one whose scheme cannot be read, are distinguished."""
    stranger = codelist("Codelist XYZ:CL(1.0)", "A")
    path, top = "structure/codelist/XYZ/CL", ARTEFACTS[urn("AgencyScheme SDMX:AGENCIES(1.0)")]
    assert found(path, "references=children", version_of([stranger, top])) == {"Codelist XYZ:CL(1.0)"}
    key = bytes(top.urn)
    unreadable = version_of([stranger])
    records = {bytes(one): unreadable._snapshot.get(str(one)) for one in unreadable}
    structures = Structures(FakeSnapshot({**records, key: record(key, b"<broken")}))  # type: ignore[dict-item]
    made = answer(RestRequest(path, "references=children", str(Format.SDMX_JSON_2_1)), structures)
    assert (made.status, dict(made.headers)["Kafka-Replica-Omitted"]) == (200, "1")
    assert b"AgencyScheme=SDMX:AGENCIES(1.0)" in made.body


@pytest.mark.parametrize("path", ["agencyscheme/SDMX/AGENCIES/1.0", "agencyscheme"])
@pytest.mark.parametrize("references", ["parents", "ancestors", "all"])
def test_an_unreadable_agency_scheme_is_omitted_with_the_artefacts_that_only_it_relates(
    path: str, references: str
) -> None:
    """Its own agencies are unknown; the artefacts of the other agencies are in the answer."""
    records = {bytes(one): REGISTRY._snapshot.get(str(one)) for one in REGISTRY}
    key = bytes(urn("AgencyScheme ECB:AGENCIES(1.0)"))
    structures = Structures(FakeSnapshot({**records, key: record(key, b"<broken")}))  # type: ignore[dict-item]
    made = answer(RestRequest(f"structure/{path}", f"references={references}", str(Format.SDMX_JSON_2_1)), structures)
    assert (made.status, dict(made.headers)["Kafka-Replica-Omitted"]) == (200, "1")
    assert urn("Codelist BIS:CL_FREQ(1.0)") in read_message(made.body).artefacts


def test_artefacts_of_an_agency_without_a_record_are_parents_of_its_scheme() -> None:
    """An artefact in the message of another key is one of the artefacts of its agency."""
    top = ARTEFACTS[urn(TOP)]
    two = [codelist("Codelist BIS:CL_A(1.0)", "A"), codelist("Codelist BIS:CL_B(1.0)", "B")]
    records = {bytes(top.urn): record(bytes(top.urn), write_message(top, Format.SDMX_ML_3_0)),
               bytes(two[0].urn): record(bytes(two[0].urn), write_message(two, Format.SDMX_ML_3_0))}  # fmt: skip
    structures = Structures(FakeSnapshot(records))
    both = {"Codelist BIS:CL_A(1.0)", "Codelist BIS:CL_B(1.0)"}
    assert found("structure/codelist/BIS", "", structures) == both
    for path in ("BIS", "*"):
        of_agency = found(f"structure/agencyscheme/SDMX/AGENCIES/1.0/{path}", "references=parents", structures)
        assert of_agency == {TOP} | both
    assert found("structure/agencyscheme/SDMX/AGENCIES/1.0/IMF", "references=parents", structures) == {TOP}


def test_partial_references_have_the_items_that_the_answer_uses() -> None:
    """Codelists have the codes that constraints allow, other schemes the items that the answer refers to."""
    artefacts = message("structure/dataflow/ECB/EXR", "references=all&detail=referencepartial").artefacts
    items = {
        artefact.reference: ids(artefacts[artefact]) for artefact in artefacts if hasattr(artefacts[artefact], "items")
    }
    assert {name: items[name] for name in ("ECB:CL_FREQ(1.0)", "ECB.DISS:CL_AREA(1.0)", "ECB:CONCEPTS(1.0)",
                                           "ECB:DATA_PROVIDERS(1.0)", "ECB:DOMAINS(1.0)", "SDMX:AGENCIES(1.0)")} == {
        "ECB:CL_FREQ(1.0)": ["A", "M"], "ECB.DISS:CL_AREA(1.0)": ["AT", "DE", "FR"],
        "ECB:CONCEPTS(1.0)": ["FREQ", "AREA", "OBS_VALUE", "UNIT"], "ECB:DATA_PROVIDERS(1.0)": ["P1"],
        "ECB:DOMAINS(1.0)": ["ECO"], "SDMX:AGENCIES(1.0)": ["ECB"],
    }  # fmt: skip
    partial = {artefact.reference for artefact in artefacts if artefacts[artefact].is_partial}
    assert partial == {"ECB:CL_FREQ(1.0)", "ECB:CONCEPTS(1.0)", "ECB:DATA_PROVIDERS(1.0)", "ECB:DOMAINS(1.0)",
                       "SDMX:AGENCIES(1.0)", "ECB:AGENCIES(1.0)"}  # fmt: skip
    unconstrained = message(
        "structure/dataflow/ECB/EXR_ALL", "references=descendants&detail=referencepartial"
    ).artefacts
    assert ids(unconstrained[urn("Codelist ECB:CL_FREQ(1.0)")]) == ["A", "M", "Q", "D"]
    constraint = message("structure/dataconstraint/ECB/EXR_CODES", "references=descendants&detail=referencepartial")
    assert ids(constraint.artefacts[urn("Codelist ECB:CL_FREQ(1.0)")]) == ["A", "M"]
    hierarchy = message("structure/hierarchy/ECB/H_AREA", "references=codelist&detail=referencepartial").artefacts
    assert ids(hierarchy[urn("Codelist ECB.DISS:CL_AREA(1.0)")]) == ["AT"]


@pytest.mark.thorough
def test_partial_codelists_have_the_codes_allowed_on_the_day_of_the_query() -> None:
    """A constraint that ends yesterday allows what it forbade; the tags distinguish the days."""
    constraint = ARTEFACTS[urn("DataConstraint ECB:EXR_CODES(1.0)")]
    assert isinstance(constraint, DataConstraint)
    others = [artefact for artefact in ARTEFACTS.values() if artefact is not constraint]
    structures = version_of([*others, structs.replace(constraint, valid_to="2026-01-31T23:59:59")])
    allowed, tags = {}, set()
    for day in (date(2026, 1, 31), date(2026, 2, 1)) * 2:
        settings = RestSettings(today=lambda day=day: day)  # type: ignore[misc] # mypy infers no lambda with a default
        for path, query in (("structure/dataflow/ECB/EXR", "references=descendants&detail=referencepartial"),
                            ("schema/dataflow/ECB/EXR", "")):  # fmt: skip
            made = answer(RestRequest(path, query, str(Format.SDMX_JSON_2_1)), structures, settings)
            codes = read_message(made.body).artefacts[urn("Codelist ECB:CL_FREQ(1.0)")]
            allowed[day, path] = ids(codes)
            tags.add(dict(made.headers)["ETag"])
    assert [len(value) for value in allowed.values()] == [2, 2, 4, 4]
    assert len(tags) == 4


@pytest.mark.parametrize(
    ("as_of", "codes"),
    [
        ("2025-12-31T23:59:59Z", 2), ("2026-01-01T00:30:00+01:00", 2), ("2025-12-31", 2), ("2025-12-31T12:00", 2),
        ("2026-01-01T00:00:00Z", 4), ("2025-12-31T23:30:00-01:00", 4), ("17", 4),
    ],
)  # fmt: skip
def test_partial_codelists_of_the_past_have_the_codes_allowed_on_that_date(as_of: str, codes: int) -> None:
    """The date in UTC of the instant counts, so that the tag of such an answer never changes; a number has no date."""
    constraint = ARTEFACTS[urn("DataConstraint ECB:EXR_CODES(1.0)")]
    assert isinstance(constraint, DataConstraint)
    changed = structs.replace(constraint, valid_to="2025-12-31T23:59:59")
    structures = version_of({**ARTEFACTS, changed.urn: changed}.values())
    xsd = "application/vnd.sdmx.schema+xml;version=3.0.0"
    query, tags = f"asOf={as_of}", set()
    for day in (date(2026, 11, 1), date(2026, 11, 2)):
        settings = RestSettings(version_at=lambda _: structures, today=lambda day=day: day)  # type: ignore[misc]
        for path, more in (("structure/dataflow/ECB/EXR", "&references=descendants&detail=referencepartial"),
                           ("schema/dataflow/ECB/EXR", "")):  # fmt: skip
            made = answer(RestRequest(path, query + more, str(Format.SDMX_JSON_2_1)), structures, settings)
            assert len(ids(read_message(made.body).artefacts[urn("Codelist ECB:CL_FREQ(1.0)")])) == codes
            tags.add(dict(made.headers)["ETag"])
        schema = answer(RestRequest("schema/dataflow/ECB/EXR", query, xsd), structures, settings)
        assert (b'value="Q"' in schema.body, b'value="M"' in schema.body) == (codes == 4, True)
    assert len(tags) == (4 if as_of == "17" else 2)


@pytest.mark.parametrize("as_of", ["2025-13-45", "9999-12-31T23:59:59-12:00", "0001-01-01T00:00:00+12:00"])
def test_an_instant_outside_of_the_calendar_is_refused(as_of: str) -> None:
    """A text in the form of an instant is not a fault, whatever the history makes of it."""
    request = RestRequest("schema/dataflow/ECB/EXR", f"asOf={as_of}")
    assert answer(request, REGISTRY, RestSettings(version_at=lambda _: REGISTRY)).status == 422


@pytest.mark.parametrize(
    ("detail", "matched", "referenced"),
    [
        ("full", "full", "full"), ("allstubs", "stub", "stub"), ("allcompletestubs", "complete", "complete"),
        ("referencestubs", "full", "stub"), ("referencecompletestubs", "full", "complete"),
    ],
)  # fmt: skip
def test_a_detail_reduces_matched_and_referenced_artefacts(detail: str, matched: str, referenced: str) -> None:
    """A stub has names and an address, a complete stub also descriptions; neither has content."""
    artefacts = message("structure/codelist/ECB/CL_FREQ/1.0", f"references=parents&detail={detail}",
                        base_url="https://example.org/sdmx/v2").artefacts  # fmt: skip
    for artefact in artefacts.values():
        wanted = matched if artefact.urn.id == "CL_FREQ" else referenced
        assert artefact.names == ARTEFACTS[artefact.urn].names
        assert bool(artefact.descriptions) == (wanted != "stub")
        assert artefact.is_external_reference == (wanted != "full")
        path = f"{artefact.urn.cls.lower()}/ECB/{artefact.urn.id}/{artefact.urn.version}"
        assert artefact.structure_url == (None if wanted == "full" else f"https://example.org/sdmx/v2/structure/{path}")


def test_artefacts_beside_others_in_a_message_are_found() -> None:
    """An artefact without a record of its own, in the message of another key, is part of wildcard and exact answers."""
    two = [ARTEFACTS[urn("Codelist ECB:CL_FREQ(1.0)")], ARTEFACTS[urn("Codelist BIS:CL_FREQ(1.0)")]]
    key = bytes(two[0].urn)
    value = write_message(two, Format.SDMX_ML_2_1)
    structures = Structures(FakeSnapshot({key: record(key, value)}))
    both = {"Codelist ECB:CL_FREQ(1.0)", "Codelist BIS:CL_FREQ(1.0)"}
    assert found("structure/codelist/*/CL_FREQ", "", structures) == both
    assert found("structure/codelist/BIS/CL_FREQ/1.0", "", structures) == {"Codelist BIS:CL_FREQ(1.0)"}
    assert found("structure/codelist/ECB/CL_FREQ/1.0", "", structures) == {"Codelist ECB:CL_FREQ(1.0)"}


def test_artefacts_without_a_record_are_collected_once_for_a_query(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many classes, agencies and ids it names; a query for exact names needs none of them."""
    calls: list[Structures] = []
    collect = Structures.companions

    def counting(self: Structures) -> dict[Urn, Urn]:
        calls.append(self)
        return collect(self)

    monkeypatch.setattr(Structures, "companions", counting)
    assert found("structure/*/ECB,BIS,SDMX/CL_FREQ,EXR,AGENCIES/~")
    assert len(calls) == 1
    assert found("structure/*/ECB,BIS,SDMX/CL_FREQ,EXR,AGENCIES/1.0")
    assert len(calls) == 1


@pytest.mark.parametrize("context", ["dataflow/ECB/EXR", "provisionagreement/ECB/EXR_P1", "datastructure/ECB/EXR"])
def test_a_schema_query_returns_the_structures_that_determine_valid_data(context: str) -> None:
    """Structure, constraints and the items that may be used come together; other artefacts do not."""
    artefacts = message(f"schema/{context}/1.0").artefacts
    classes = {artefact.cls for artefact in artefacts}
    lists = {"DataStructure", "ConceptScheme", "Codelist", "ValueList", "AgencyScheme"}
    is_constrained = not context.startswith("datastructure")
    assert classes == lists | ({"DataConstraint"} if is_constrained else set())
    assert ids(artefacts[urn("Codelist ECB:CL_FREQ(1.0)")]) == (["A", "M"] if is_constrained else ["A", "M", "Q", "D"])
    assert "UNUSED" not in ids(artefacts[urn("ConceptScheme ECB:CONCEPTS(1.0)")])
