"""Navigation in hierarchies: nodes, levels, leaves, codes, and the hierarchies associated with an artefact."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_replica.sdmx import MessagePart, Structures, Urn, split_message
from kafka_replica.sdmx.errors import ArtefactNotFoundError, UnreadableContentError, UrnError
from support.sdmx.sdmx_corpus import FakeSnapshot, data_of, rows
from support.sdmx.sdmx_json_samples import CODELIST, DSD, FLOW, SAMPLE_1_0, URN, artefact, message, named

AREA = f"{URN}codelist.Code=A:AREA(1.0.0)."


def place(id_: str, *below: dict[str, Any], code: str | None = None, **more: Any) -> dict[str, Any]:
    """Return a hierarchical code."""
    return {"id": id_, "code": AREA + (code or id_), "hierarchicalCodes": list(below)} | more


WORLD = artefact(
    "WORLD", level=named("TOP", level=named("REGION", level=named("COUNTRY"))),
    hierarchicalCodes=[
        place("EU", place("NORTH", place("SE"), place("FI")), place("DE", level="COUNTRY")),
        place("NATO", place("DE2", code="DE"), place("NEW", code="X_NEW")),
        place("GONE"),
    ],
)  # fmt: skip
DATA = {
    "codelists": [
        artefact("AREA", codes=[named(one) for one in ("EU", "NORTH", "SE", "FI", "DE", "NATO")],
                 codelistExtensions=[{"codelist": f"{URN}codelist.Codelist=A:MORE(1.0.0)", "prefix": "X_"}]),
        artefact("MORE", codes=[named("NEW")]),
    ],
    "hierarchies": [WORLD, artefact("STUB", isExternalReference=True)],
}  # fmt: skip


def structures_of(data: dict[str, Any], version: str = "2.0.0") -> Structures:
    """Return look-ups in a version of these artefacts."""
    return Structures(FakeSnapshot.of(split_message(message(data, version))))


def test_nodes_are_listed_parents_first() -> None:
    """Nodes are listed parents first, in the order of the message; each node knows its path."""
    tree = structures_of(DATA).hierarchy_tree("A:WORLD(1.0.0)")
    assert [one.path for one in tree.walk()] == [
        "EU", "EU.NORTH", "EU.NORTH.SE", "EU.NORTH.FI", "EU.DE", "NATO", "NATO.DE2", "NATO.NEW", "GONE",
    ]  # fmt: skip
    assert [one.depth for one in tree.walk()] == [1, 2, 3, 3, 2, 1, 2, 2, 1]
    assert [root.id for root in tree.roots] == ["EU", "NATO", "GONE"]
    assert [leaf.path for leaf in tree.leaves()] == [
        "EU.NORTH.SE", "EU.NORTH.FI", "EU.DE", "NATO.DE2", "NATO.NEW", "GONE",
    ]  # fmt: skip
    sweden = tree.at("EU.NORTH.SE")
    assert [ancestor.id for ancestor in sweden.ancestors()] == ["NORTH", "EU"]
    assert sweden.parent is tree.at("EU.NORTH")
    assert (sweden.is_leaf, tree.at("EU").is_leaf) == (True, False)
    assert [child.id for child in tree.at("EU").children] == ["NORTH", "DE"]
    assert [leaf.id for leaf in tree.at("EU").leaves()] == ["SE", "FI", "DE"]
    assert [one.id for one in tree.at("EU.NORTH").walk()] == ["NORTH", "SE", "FI"]
    assert repr(sweden) == "<EU.NORTH.SE in A:WORLD(1.0.0)>"
    for path in ("SE", "EU.SE", "EU.NORTH.SE.X", ""):
        with pytest.raises(ArtefactNotFoundError, match="at that location"):
            tree.at(path)


def test_a_node_has_its_named_or_default_level() -> None:
    """A node has the level that its code names, otherwise the level of its depth if there is one."""
    tree = structures_of(DATA).hierarchy_tree(f"{URN}codelist.Hierarchy=A:WORLD(1.0+.0)")
    assert [level.id for level in tree.levels] == ["TOP", "REGION", "COUNTRY"]
    found = {one.path: one.level.id for one in tree.walk() if one.level is not None}
    assert found["EU"] == "TOP"
    assert found["EU.NORTH"] == "REGION"
    assert found["EU.NORTH.SE"] == "COUNTRY"
    assert found["EU.DE"] == "COUNTRY"
    flat = artefact("FLAT", hierarchicalCodes=[place("EU", place("DE"))], level=named("ONLY"))
    flat_tree = structures_of({"hierarchies": [flat]}).hierarchy_tree("A:FLAT(1.0.0)")
    assert [one.level and one.level.id for one in flat_tree.walk()] == ["ONLY", None]


def test_a_missing_code_of_a_node_raises_on_access() -> None:
    """Each node returns its code, also one from an extension; a missing code raises on access."""
    tree = structures_of(DATA).hierarchy_tree("A:WORLD(1.0.0)")
    assert tree.at("NATO.DE2").code is tree.at("EU.DE").code
    assert tree.at("EU.DE").code.name("en") == "DE"
    assert str(tree.at("NATO.NEW").code.urn) == AREA + "X_NEW"
    assert str(tree.at("GONE").code_urn) == AREA + "GONE"
    with pytest.raises(ArtefactNotFoundError, match="has no Code 'GONE'"):
        _ = tree.at("GONE").code
    odd = artefact("ODD", hierarchicalCodes=[place("EU") | {"code": f"{URN}codelist.Codelist=A:AREA(1.0.0)"}])
    structures = structures_of(DATA | {"hierarchies": [odd]})
    with pytest.raises(UrnError, match="is not a code"):
        _ = structures.hierarchy_tree("A:ODD(1.0.0)").roots[0].code


def test_places_of_a_code() -> None:
    """A code may appear at several nodes or none; it is found by URN, text, or id."""
    tree = structures_of(DATA).hierarchy_tree("A:WORLD(1.0.0)")
    for code in ("DE", AREA + "DE", Urn.parse(AREA + "DE")):
        assert [place.path for place in tree.places_of(code)] == ["EU.DE", "NATO.DE2"]
    assert tree.places_of("FR") == ()
    assert tree.places_of(AREA + "FR") == ()


def test_hierarchies_of_2_1() -> None:
    """Hierarchies within a hierarchical codelist are found by the id after a dot; codes by alias; levels by path."""
    data = SAMPLE_1_0 | {"codelists": [artefact("CL", version="1.0", codes=[named("Z"), named("A")])]}
    structures = structures_of(data, "1.0")
    tree = structures.hierarchy_tree("A:HCL(1.0).H1")
    assert [(one.path, one.code.id, one.level and one.level.id) for one in tree.walk()] == [
        ("ONE", "Z", "L1"), ("ONE.TWO", "A", "L2"),
    ]  # fmt: skip
    assert tree.urn == structures.hierarchical_codelist("A:HCL(1.0)").hierarchies["H1"].urn
    assert structures.hierarchy_tree(tree.hierarchy).urn == tree.urn
    with pytest.raises(ArtefactNotFoundError):
        structures.hierarchy_tree("A:HCL(1.0).NONE")
    with pytest.raises(UrnError, match="within a list by its id"):
        structures.hierarchy_tree(f"{URN}codelist.HierarchicalCodelist=A:HCL(1.0)")
    unknown = [named("H1", hierarchicalCodes=[{"id": "ONE", "codelistAliasRef": "NO", "codeID": "Z"}])]
    other = structures_of({"hierarchicalCodelists": [artefact("H", version="1.0", hierarchies=unknown)]}, "1.0")
    lost = other.hierarchy_tree("A:H(1.0).H1").roots[0]
    assert lost.code_urn is None
    with pytest.raises(ArtefactNotFoundError, match="'NO'"):
        _ = lost.code


def test_stubs_have_no_places() -> None:
    """A stub's nodes raise on access and do not seem empty."""
    tree = structures_of(DATA).hierarchy_tree("A:STUB(1.0.0)")
    with pytest.raises(UnreadableContentError, match="stub"):
        list(tree.walk())


def association(id_: str, linked: str, context: str | None = None, hierarchy: str = "WORLD") -> dict[str, Any]:
    """Return a hierarchy association."""
    made = artefact(id_, linkedHierarchy=f"{URN}codelist.Hierarchy=A:{hierarchy}(1.0.0)", linkedObject=linked)
    return made if context is None else made | {"contextObject": context}


def test_hierarchies_of_a_list_or_component_are_found() -> None:
    """Associations with a list, whatever its version's spelling, or a component are found, and filtered by context."""
    dimension = f"{URN}datastructure.Dimension=A:DSD(1.0.0).AREA"
    data = {
        "codelists": [artefact("CL", version="1.0"), artefact("CL", version="1.1"), artefact("CL2")],
        "dataStructures": [
            artefact("DSD", dataStructureComponents={"dimensionList": {"id": "DimensionDescriptor", "dimensions": [
                {"id": "AREA", "conceptIdentity": f"{URN}conceptscheme.Concept=A:CS(1.0).AREA"},
                {"id": "SEX", "conceptIdentity": f"{URN}conceptscheme.Concept=A:CS(1.0).SEX"}]}})
        ],
        "dataflows": [artefact("DF", structure=DSD), artefact("DF2", structure=DSD)],
        "hierarchyAssociations": [
            association("HA1", CODELIST), association("HA2", f"{URN}codelist.Codelist=A:CL(1.0+)"),
            association("HA3", dimension, FLOW), association("HA4", dimension),
            association("HA5", dimension, f"{URN}datastructure.Dataflow=A:DF2(1.0.0)"),
            artefact("HA6", isExternalReference=True),
        ],
    }  # fmt: skip
    structures = structures_of(data)

    def ids(*query: Any) -> list[str]:
        return [hierarchy.id for hierarchy in structures.hierarchies_of(*query)]

    assert ids(CODELIST) == ["HA1"]
    assert ids(f"{URN}codelist.Codelist=A:CL(1.1)") == ["HA2"]
    assert ids(f"{URN}codelist.Codelist=A:CL2(1.0.0)") == []
    assert ids(dimension) == ["HA3", "HA4", "HA5"]
    assert ids(dimension, FLOW) == ["HA3", "HA4"]
    assert ids(dimension.replace("AREA", "SEX")) == []
    assert ids(DSD) == []
    with pytest.raises(ArtefactNotFoundError):
        ids(f"{URN}codelist.Codelist=A:NONE(1.0)")


def files(*endings: str) -> list[Any]:
    """Return the files of the corpus with these endings."""
    found = rows(("fusion-json", ""), ("sdmx-json", "2.0"))
    return [one for one in found if one.values[0] is None or one.values[0]["file"].endswith(endings)]


@pytest.mark.parametrize("row", files("samples__code__hier.fusion.json", "samples__code__hier.json"))
def test_a_public_hierarchy_has_the_nodes_counted_by_hand(row: dict[str, str]) -> None:
    """A public sample has 4 roots and 18 nodes, 15 of them leaves, counted by hand; all have a code."""
    parts: list[MessagePart] = split_message(data_of(row))
    tree = Structures(FakeSnapshot.of(parts)).hierarchy_tree("TEST:HCL_ELEMENT(1.0)")
    assert (len(tree.roots), len(list(tree.walk())), len(list(tree.leaves()))) == (4, 18, 15)
    lithium = tree.at("Ze33.M1.M0_Li")
    assert lithium.code.name() == "Lithium"
    assert [ancestor.code.name() for ancestor in lithium.ancestors()] == ["Alkali metal", "Metal"]
    assert all(one.code.name() for one in tree.walk())
