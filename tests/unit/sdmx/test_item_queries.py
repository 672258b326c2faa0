"""Queries about items: referrers of a code or concept, items below and above it, dataflows of a category."""

from __future__ import annotations

import random
from typing import Any

import pytest

from kafka_replica.sdmx import Structures, Urn, read_message, split_message
from kafka_replica.sdmx.errors import ArtefactNotFoundError, MessageError, UnreadableContentError, UrnError
from kafka_replica.sdmx.lookups import decoding as module
from kafka_replica.sdmx.lookups.cache import DecodeCache
from kafka_replica.sdmx.lookups.references import references_of
from kafka_replica.sdmx.model.base import ItemScheme
from support.sdmx.sdmx_corpus import FakeSnapshot, data_of, rows
from support.sdmx.sdmx_json_samples import URN, artefact, message, named

LIST = f"{URN}codelist.Codelist=A:CL(1.0.0)"
CODE = f"{URN}codelist.Code=A:CL(1.0.0)."
CONCEPT = f"{URN}conceptscheme.Concept=A:CS(1.0.0)."
CATEGORY = f"{URN}categoryscheme.Category=A:CATS(1.0.0)."


def structures_of(data: dict[str, Any], version: str = "2.0.0") -> Structures:
    """Return look-ups in a version of these artefacts."""
    return Structures(FakeSnapshot.of(split_message(message(data, version))))


def ids(found: Any) -> list[str]:
    """Return the ids of URNs or items."""
    return [one.id for one in found]


def hierarchy(id_: str, *codes: str) -> dict[str, Any]:
    """Return a hierarchy of these codes, each below the previous one."""
    held: list[dict[str, Any]] = []
    for at, code in reversed(list(enumerate(codes))):
        held = [{"id": f"N{at}", "code": code, "hierarchicalCodes": held}]
    return artefact(id_, hierarchicalCodes=held)


def data_structure(id_: str, *concepts: str, enumeration: str | None = None) -> dict[str, Any]:
    """Return a data structure with a dimension of each concept."""
    local = {"localRepresentation": {"enumeration": enumeration}} if enumeration else {}
    dimensions = [{"id": concept.rpartition(".")[2], "conceptIdentity": concept} | local for concept in concepts]
    components = {"dimensionList": {"id": "DimensionDescriptor", "dimensions": dimensions}}
    return artefact(id_, dataStructureComponents=components)


TREE = artefact("CL", codes=[
    named("W"), named("EU", parent="W"), named("DE", parent="EU"), named("FR", parent="EU"), named("US", parent="W"),
    named("LOST", parent="NOWHERE"),
])  # fmt: skip
CONCEPTS = artefact("CS", concepts=[named("FREQ"), named("SUB", parent="FREQ"), named("AREA")])


def test_parents_of_an_item_refer_to_that_item() -> None:
    """Parents of an item refer to it, not to other items or only to its scheme; version rules count as their target."""
    found = structures_of({
        "codelists": [TREE],
        "conceptSchemes": [CONCEPTS],
        "hierarchies": [hierarchy("H_DE", CODE + "EU", CODE + "DE"), hierarchy("H_US", CODE + "US")],
        "dataStructures": [
            data_structure("D_FREQ", CONCEPT + "FREQ"),
            data_structure("D_SUB", CONCEPT.replace("1.0.0", "1.0+.0") + "FREQ.SUB"),
            data_structure("D_BOTH", CONCEPT + "FREQ", CONCEPT + "AREA", enumeration=LIST),
        ],
        "dataflows": [artefact("DF", structure=f"{URN}datastructure.DataStructure=A:D_FREQ(1.0.0)")],
    })  # fmt: skip
    assert ids(found.parents(CODE + "DE")) == ["H_DE"]
    assert ids(found.parents(CODE + "US")) == ["H_US"]
    assert found.parents(CODE + "FR") == ()
    assert ids(found.parents(LIST)) == ["H_DE", "H_US", "D_BOTH"]
    assert ids(found.parents(CONCEPT + "FREQ")) == ["D_BOTH", "D_FREQ"]
    assert ids(found.parents(CONCEPT + "SUB")) == ids(found.parents(CONCEPT + "FREQ.SUB")) == ["D_SUB"]
    assert ids(found.ancestors(CONCEPT + "FREQ")) == ["D_BOTH", "D_FREQ", "DF"]
    assert ids(found.ancestors(f"{URN}conceptscheme.ConceptScheme=A:CS(1.0.0)")) == ["D_BOTH", "D_FREQ", "D_SUB", "DF"]
    area = f"{URN}datastructure.Dimension=A:D_BOTH(1.0.0).AREA"
    assert ids(found.children(area)) == ids(found.descendants(area)) == ["CL", "CS"]
    assert found.children(CODE + "DE") == ()
    with pytest.raises(ArtefactNotFoundError, match="has no Code 'XX'"):
        found.parents(CODE + "XX")


def test_parents_of_an_item_of_an_unreadable_record_are_found() -> None:
    """References to an item of an unreadable record are found by the item's name; the record is listed."""
    data = {"codelists": [TREE], "hierarchies": [hierarchy("H", CODE + "DE"), hierarchy("H2", CODE + "US")]}
    snapshot = FakeSnapshot.of(split_message(message(data)))
    key = LIST
    snapshot.records[key.encode()] = snapshot.records[key.encode()].replace(value=b"{broken")
    found = Structures(snapshot)
    assert ids(found.parents(CODE + "DE")) == ["H"]
    assert [str(one) for one in found.parents(CODE + "DE").unreadable] == [key]
    assert found.children(CODE + "DE") == ()
    with pytest.raises(MessageError, match="offset 0"):
        found.child_items(CODE + "DE")
    stub = structures_of({"codelists": [artefact("CL", isExternalReference=True)], "hierarchies": data["hierarchies"]})
    assert ids(stub.parents(CODE + "US")) == ["H2"]
    with pytest.raises(UnreadableContentError, match="is a stub"):
        stub.child_items(CODE + "US")


def test_codes_below_and_above_a_code() -> None:
    """Codes below and above a code follow parents in the order of the list; a missing parent has no ancestors."""
    found = structures_of({"codelists": [TREE], "conceptSchemes": [CONCEPTS]})
    codes = found.codelist("A:CL(1.0.0)")
    assert ids(codes.children_of("W")) == ["EU", "US"]
    assert ids(codes.descendants_of("W")) == ["EU", "DE", "FR", "US"]
    assert ids(codes.ancestors_of("DE")) == ["EU", "W"]
    assert codes.children_of("LOST") == codes.ancestors_of("LOST") == codes.children_of("DE") == ()
    assert found.child_items(CODE + "W") == codes.children_of("W")
    assert found.descendant_items(CODE + "EU") == codes.descendants_of("EU")
    assert found.ancestor_items(CODE + "FR") == codes.ancestors_of("FR")
    assert ids(found.child_items(CONCEPT + "FREQ")) == ["SUB"]
    assert ids(found.ancestor_items(CONCEPT + "FREQ.SUB")) == ["FREQ"]
    with pytest.raises(
        ArtefactNotFoundError, match=r"looking for 'XX' in urn:.*A:CL\(1\.0\.0\): the item does not exist"
    ):
        codes.children_of("XX")
    with pytest.raises(ArtefactNotFoundError):
        found.child_items(CODE + "XX")
    for wrong in (LIST, f"{URN}conceptscheme.ConceptScheme=A:CS(1.0.0)"):
        with pytest.raises(UrnError, match="not an item of a scheme"):
            found.ancestor_items(wrong)


def test_items_that_hold_items() -> None:
    """Nested categories and hierarchical codes are below the item that contains them, and found by their path."""
    found = structures_of({
        "codelists": [TREE],
        "hierarchies": [hierarchy("H", CODE + "W", CODE + "EU", CODE + "DE")],
        "categorySchemes": [artefact("CATS", categories=[
            named("ECO", categories=[named("PRICES", categories=[named("CPI")]), named("TRADE")]), named("SOC")])],
    })  # fmt: skip
    place = f"{URN}codelist.HierarchicalCode=A:H(1.0.0)."
    assert ids(found.child_items(place + "N0")) == ["N1"]
    assert ids(found.descendant_items(place + "N0")) == ["N1", "N2"]
    assert ids(found.ancestor_items(place + "N0.N1.N2")) == ["N1", "N0"]
    assert ids(found.descendant_items(CATEGORY + "ECO")) == ["PRICES", "CPI", "TRADE"]
    assert ids(found.ancestor_items(CATEGORY + "ECO.PRICES.CPI")) == ["PRICES", "ECO"]
    tree = found.hierarchy_tree("A:H(1.0.0)")
    assert ids(tree.children_of("EU")) == ids(tree.children_of(CODE + "EU")) == ["N2"]
    assert ids(tree.descendants_of("W")) == ["N1", "N2"]
    assert ids(tree.ancestors_of("DE")) == ["N1", "N0"]
    assert tree.children_of("US") == ()


def test_a_hierarchy_within_a_list_of_hierarchies() -> None:
    """Nested items of a hierarchical codelist of 2.1 are found."""
    data = {"codelists": [artefact("CL", version="1.0", codes=[named("Z"), named("A")])],
            "hierarchicalCodelists": [artefact("HCL", version="1.0", hierarchies=[named("H1", hierarchicalCodes=[
                {"id": "ONE", "code": f"{URN}codelist.Code=A:CL(1.0).Z", "hierarchicalCodes": [
                    {"id": "TWO", "code": f"{URN}codelist.Code=A:CL(1.0).A"}]}])])]}  # fmt: skip
    found = structures_of(data, "1.0")
    place = f"{URN}codelist.HierarchicalCode=A:HCL(1.0).H1.ONE"
    assert ids(found.child_items(place)) == ["TWO"]
    assert ids(found.ancestor_items(place)) == ["H1"]


def test_codes_by_extension_count() -> None:
    """Inherited codes of a codelist are below their parent, and circular parents terminate."""
    extension = {"codelist": LIST, "prefix": "X_"}
    found = structures_of({"codelists": [TREE, artefact("EXT", codelistExtensions=[extension], codes=[
        named("A", parent="B"), named("B", parent="A")])]})  # fmt: skip
    code = f"{URN}codelist.Code=A:EXT(1.0.0)."
    assert ids(found.child_items(code + "X_EU")) == ["X_DE", "X_FR"]
    assert ids(found.ancestor_items(code + "X_DE")) == ["X_EU", "X_W"]
    assert found.codelist("A:EXT(1.0.0)").children_of("A") == found.child_items(code + "A")
    assert ids(found.descendant_items(code + "A")) == ids(found.ancestor_items(code + "A")) == ["B"]


@pytest.mark.thorough
def test_children_are_indexed_once() -> None:
    """The children of all codes of a long list come from one index, which is made at the first query."""
    chance = random.Random(1)
    count = 3000
    codes = [named(f"C{at}", **({"parent": f"C{chance.randrange(at)}"} if at else {})) for at in range(count)]
    found = structures_of({"codelists": [artefact("CL", codes=codes)]}).codelist("A:CL(1.0.0)")
    index = found.codes.child_ids
    assert sum(len(found.children_of(id_)) for id_ in found.codes) == count - 1
    assert found.codes.child_ids is index
    assert len(found.descendants_of("C0")) == count - 1
    for id_, code in found.codes.items():
        assert (found.ancestors_of(id_)[:1] or [None])[0] is (found.codes[code.parent] if code.parent else None)


# --- categories ---


def categorisation(id_: str, flow: str, category: str) -> dict[str, Any]:
    """Return a categorisation of a flow in a category."""
    return artefact(id_, source=f"{URN}datastructure.Dataflow=A:{flow}(1.0.0)", target=category)


CATEGORIES: dict[str, Any] = {
    "categorySchemes": [artefact("CATS", categories=[
        named("ECO", categories=[named("PRICES", categories=[named("CPI")])]), named("ECOLOGY")])],
    "dataflows": [artefact(one) for one in ("F_CPI", "F_ECO", "F_GREEN", "F_NONE", "F_TWICE")],
    "categorisations": [
        categorisation("C1", "F_CPI", CATEGORY + "ECO.PRICES.CPI"),
        categorisation("C2", "F_ECO", CATEGORY + "ECO"),
        categorisation("C3", "F_GREEN", CATEGORY + "ECOLOGY"),
        categorisation("C4", "F_TWICE", CATEGORY + "ECO.PRICES"),
        categorisation("C5", "F_TWICE", CATEGORY.replace("1.0.0", "1.0+.0") + "ECOLOGY"),
        categorisation("C6", "NOT_THERE", CATEGORY + "ECO"),
        artefact("C7", source=LIST, target=CATEGORY + "ECO"),
        categorisation("C8", "F_NONE", CATEGORY.replace("CATS", "OTHER") + "ECO"),
    ],
}  # fmt: skip


def test_dataflows_of_a_category() -> None:
    """Dataflows of a category include those of subcategories unless excluded, and none of others."""
    found = structures_of(CATEGORIES)
    assert ids(found.dataflows_of(CATEGORY + "ECO")) == ["F_CPI", "F_ECO", "F_TWICE"]
    assert ids(found.dataflows_of("A:CATS(+).ECO", children=False)) == ["F_ECO"]
    assert ids(found.dataflows_of(CATEGORY + "ECO.PRICES")) == ["F_CPI", "F_TWICE"]
    assert ids(found.dataflows_of(CATEGORY + "ECOLOGY")) == ["F_GREEN", "F_TWICE"]
    assert ids(found.dataflows_of("A:CATS(1.0.0)")) == ["F_CPI", "F_ECO", "F_GREEN", "F_TWICE"]
    assert found.dataflows_of("A:CATS(1.0.0)", children=False) == ()
    assert found.dataflows_of(CATEGORY + "ECO").is_complete
    with pytest.raises(UrnError, match="name a category"):
        found.dataflows_of(f"{URN}datastructure.Dataflow=A:F_CPI(1.0.0)")
    with pytest.raises(ArtefactNotFoundError):
        found.dataflows_of(CATEGORY + "ECO.NOPE")
    with pytest.raises(ArtefactNotFoundError):
        found.dataflows_of("A:OTHER(1.0.0)")


def test_dataflows_of_a_category_where_something_cannot_be_read() -> None:
    """Other categorisations still count if one cannot be read; it is listed, and so is an unreadable scheme."""
    snapshot = FakeSnapshot.of(split_message(message(CATEGORIES)))
    for key in (f"{URN}categoryscheme.Categorisation=A:C1(1.0.0)", f"{URN}categoryscheme.CategoryScheme=A:CATS(1.0.0)"):
        snapshot.records[key.encode()] = snapshot.records[key.encode()].replace(value=b"{broken")
    answer = Structures(snapshot).dataflows_of(CATEGORY + "ECO")
    assert (ids(answer), ids(answer.unreadable)) == (["F_ECO", "F_TWICE"], ["C1", "CATS"])


def test_reporting_taxonomies_and_messages_of_20() -> None:
    """The flows of a reporting category are those that it names itself, with those below it on request."""
    flow, other = (f"{URN}datastructure.Dataflow=A:{one}(1.0.0)" for one in ("F_CPI", "F_ECO"))
    below = named("TWO", provisioningMetadata=[other])
    taxonomy = artefact(
        "RT", reportingCategories=[named("ONE", provisioningMetadata=[flow], reportingCategories=[below])]
    )
    found = structures_of(CATEGORIES | {"reportingTaxonomies": [taxonomy]})
    category = f"{URN}categoryscheme.ReportingCategory=A:RT(1.0.0)."
    assert ids(found.dataflows_of(category + "ONE")) == ["F_CPI", "F_ECO"]
    assert ids(found.dataflows_of(category + "ONE", children=False)) == ["F_CPI"]
    assert ids(found.dataflows_of(f"{URN}categoryscheme.ReportingTaxonomy=A:RT(1.0.0)")) == ["F_CPI", "F_ECO"]


# --- real files ---


def files() -> list[Any]:
    """Return files of every format."""
    return rows(
        ("fusion-json", ""), ("sdmx-ml", "2.0"), ("sdmx-ml", "2.1"), ("sdmx-ml", "3.0"), ("sdmx-ml", "3.1"),
        ("sdmx-json", "1.0"), ("sdmx-json", "2.0"), ("sdmx-json", "2.1"),
    )  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize("row", files())
def test_items_below_and_above_are_inverse_relations(row: dict[str, str]) -> None:
    """Items below and above are inverse relations in all schemes; categories have the dataflows collected by hand."""
    try:
        parts = split_message(data_of(row))
    except (MessageError, UnreadableContentError):
        pytest.skip("it is among those that cannot be read: see test_corpus")
    structures = Structures(FakeSnapshot.of(parts))
    for urn in structures:
        try:
            found = structures.get(urn)
        except (MessageError, UnreadableContentError):
            continue
        if isinstance(found, ItemScheme) and not found.is_stub and len(found.items) < 3000:
            check_scheme(found)
        if urn.cls == "CategoryScheme":
            check_categories(structures, urn)


def check_scheme(scheme: ItemScheme) -> None:
    """Check that each item is a child of its first ancestor, and that all items are below the topmost ones."""
    seen = 0
    for item in scheme.items.values():
        above = scheme.ancestors_of(item.id)
        if above:
            assert item in scheme.children_of(above[0].urn.item)
        else:
            seen += 1 + len(scheme.descendants_of(item.id))
    assert seen == len(scheme.items) or scheme.children_field is not None


def check_categories(structures: Structures, scheme: Urn) -> None:
    """Check the categories against categorisations, the scheme, and the dataflows of 2.0."""
    named = {reference for reference in references_of(structures.get(scheme)) if reference.cls == "Dataflow"}  # type: ignore[arg-type]
    for urn in structures.find(cls="Categorisation"):
        found: Any = structures.get(urn)
        if found.target is not None and _holder(structures, found.target) == scheme:
            named.add(found.source)
    wanted = {structures.get(one).urn for one in named if one.cls == "Dataflow" and one in structures}
    for urn in structures.find(cls="Dataflow"):
        categories = getattr(structures.get(urn), "categories", ())
        wanted |= {urn} if any(_holder(structures, category) == scheme for category in categories) else set()
    assert set(structures.dataflows_of(scheme)) == wanted


def _holder(structures: Structures, category: Urn) -> Urn | None:
    scheme = category.maintainable
    return structures.get(scheme).urn if scheme in structures else None


# --- cost ---


@pytest.mark.long
def test_the_cost_of_item_queries_does_not_depend_on_the_store(monkeypatch: pytest.MonkeyPatch) -> None:
    """After ten changed records queries read and decode as many among 1,000 records as among 20,000."""
    costs = [_cost(size, monkeypatch) for size in (1_000, 20_000)]
    assert costs[0] == costs[1]
    assert costs[0][0] <= 14  # the ten, and the targets of the query


def _cost(size: int, monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    data = CATEGORIES | {"codelists": [TREE], "hierarchies": [hierarchy("H", CODE + "DE")]}
    made = FakeSnapshot.of(split_message(message(data)))
    sample = next(iter(made.records.values()))
    filler = message({"codelists": []})
    records = made.records | {
        (key := f"{URN}codelist.Codelist=A:X{at}(1.0.0)".encode()): sample.replace(key=key, value=filler)
        for at in range(size)
    }
    first = Structures(FakeSnapshot(records, 1), cache=DecodeCache())
    first.count_references()
    records = dict(records)
    changed = []
    for at in range(10):
        [part] = split_message(message({"hierarchies": [hierarchy(f"H{at}", CODE + "DE", CODE + "EU")]}))
        records[bytes(part.urn)] = sample.replace(key=bytes(part.urn), value=part.value)
        changed.append(bytes(part.urn))
    decoded: list[int] = []
    real = read_message
    with monkeypatch.context() as patched:
        patched.setattr(module, "read_message", lambda *given, **options: decoded.append(1) or real(*given, **options))
        second = FakeSnapshot(records, 2)
        found = first.moved_to(second, changed)
        assert len(found.parents(CODE + "DE")) == 11
        assert len(found.ancestors(CODE + "EU")) == 10
        assert ids(found.child_items(CODE + "EU")) == ["DE", "FR"]
        assert len(found.dataflows_of(CATEGORY + "ECO")) == 3
    return len(decoded), second.gets
