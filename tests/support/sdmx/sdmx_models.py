"""Random artefacts (hypothesis): everything that today's editions have in common, with any texts."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from kafka_replica.sdmx.containers import InternationalString, Items
from kafka_replica.sdmx.model import (
    Annotation,
    Attribute,
    AttributeRelationship,
    Category,
    CategoryScheme,
    Code,
    Codelist,
    ComponentMap,
    Concept,
    ConceptScheme,
    ConstraintAttachment,
    DataConstraint,
    Dataflow,
    DataStructure,
    Dimension,
    FixedValueMap,
    Group,
    HierarchicalCode,
    Hierarchy,
    KeySet,
    MappedValue,
    Measure,
    MemberSelection,
    Region,
    RepresentationMap,
    RepresentationMapping,
    SelectedValue,
    StructureMap,
)
from kafka_replica.sdmx.model.representation import Representation, TextFormat
from kafka_replica.sdmx.urns.urn import Urn

# XML can represent any character except controls, halves of surrogate pairs, U+FFFE and U+FFFF.
_CHARACTERS = st.characters(
    exclude_categories=("Cs", "Cc"), include_characters="\n\t\r", exclude_characters="\ufffe\uffff"
)
TEXTS = st.text(_CHARACTERS, min_size=1, max_size=30)
IDS = st.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-az", min_size=1, max_size=8).map(lambda text: f"I{text}")
CODE_IDS = st.text("AZaz09_@$-", min_size=1, max_size=8)
AGENCIES = st.builds("{}{}".format, IDS, st.sampled_from(["", "", "", ".SUB"]))
LANGUAGES = st.sampled_from(["en", "fr", "de", "pt-BR", "zh"])
VERSIONS = st.sampled_from(["1.0", "2.3", "1.0.0", "10.2.1"])


def some(one: st.SearchStrategy[Any], most: int = 3) -> st.SearchStrategy[tuple[Any, ...]]:
    """Draw a few of them, or none."""
    return st.lists(one, max_size=most).map(tuple)


@st.composite
def international(draw: Any, least: int = 0) -> InternationalString:
    """Draw a text in some languages, each once."""
    return InternationalString(draw(st.dictionaries(LANGUAGES, TEXTS, min_size=least, max_size=3)))


@st.composite
def annotation_lists(draw: Any) -> tuple[Annotation, ...]:
    """Draw annotations, as 2.1 has them too."""
    optional = st.none() | TEXTS
    one = st.builds(Annotation, id=optional, title=optional, type=optional, text=international())
    return draw(some(one, 2))


@st.composite
def urns(draw: Any, class_: str, item: bool = False) -> Urn:
    """Draw a reference to an artefact of a class, or to an item of that class."""
    return Urn.of(class_, draw(AGENCIES), draw(IDS), draw(VERSIONS), draw(IDS) if item else None)


@st.composite
def maintained(draw: Any, class_: str) -> dict[str, Any]:
    """Draw the common properties of an artefact."""
    return {
        "urn": draw(urns(class_)),
        "names": draw(international(1)),
        "descriptions": draw(international()),
        "annotations": draw(annotation_lists()),
        "valid_from": draw(st.none() | st.just("2020-01-01T00:00:00")),
        "valid_to": draw(st.none() | st.just("2021-01-01T00:00:00Z")),
        "is_partial": draw(st.booleans()) and class_.endswith(("Scheme", "Codelist")),
    }


def named(draw: Any) -> dict[str, Any]:
    """Draw the common properties of an item."""
    return {
        "names": draw(international(1)),
        "descriptions": draw(international()),
        "annotations": draw(annotation_lists()),
    }


@st.composite
def codelists(draw: Any) -> Codelist:
    """Draw a codelist with parents."""
    base = draw(maintained("Codelist"))
    ids = draw(st.lists(CODE_IDS, unique=True, max_size=6))
    codes = {
        id_: Code(
            urn=base["urn"].with_item("Code", id_),
            parent=draw(st.none() | st.sampled_from(ids)),
            **named(draw),
        )
        for id_ in ids
    }
    return Codelist(codes=Items(codes), **base)


@st.composite
def representations(draw: Any, enumeration: str = "Codelist") -> Representation:
    """Draw an enumerated representation, or a free one with some facets."""
    if draw(st.booleans()):
        return Representation(enumeration=draw(urns(enumeration)))
    lengths = st.none() | st.integers(1, 10**6)
    numbers = st.none() | st.decimals(allow_nan=False, allow_infinity=False, min_value=-10, max_value=10**6, places=2)
    types = st.sampled_from([None, "String", "Integer", "Double"])
    format_ = st.builds(
        TextFormat,
        text_type=types,
        min_length=lengths,
        max_length=lengths,
        max_value=numbers,
        pattern=st.none() | TEXTS,
    )
    return Representation(format=draw(format_))


@st.composite
def concept_schemes(draw: Any) -> ConceptScheme:
    """Draw a concept scheme with representations."""
    base = draw(maintained("ConceptScheme"))
    ids = draw(st.lists(IDS, unique=True, max_size=4))
    concepts = {
        id_: Concept(
            urn=base["urn"].with_item("Concept", id_),
            parent=draw(st.none() | st.sampled_from(ids)),
            core_representation=draw(st.none() | representations()),
            **named(draw),
        )
        for id_ in ids
    }
    return ConceptScheme(concepts=Items(concepts), **base)


@st.composite
def category_schemes(draw: Any) -> CategoryScheme:
    """Draw a category scheme with three levels."""
    base = draw(maintained("CategoryScheme"))

    def level(path: str, depth: int) -> Items[Category]:
        ids = draw(st.lists(IDS, unique=True, max_size=2)) if depth else []
        return Items(
            {
                id_: Category(
                    urn=base["urn"].with_item("Category", f"{path}{id_}"),
                    categories=level(f"{path}{id_}.", depth - 1),
                    **named(draw),
                )
                for id_ in ids
            }
        )

    return CategoryScheme(categories=level("", 3), **base)


@st.composite
def data_structures(draw: Any) -> DataStructure:
    """Draw a data structure whose attributes refer to its own components."""
    base = draw(maintained("DataStructure"))
    ids = draw(st.lists(IDS, unique=True, min_size=3, max_size=8))
    keys, rest = ids[:2], ids[2:]

    def parts(class_: str, id_: str) -> dict[str, Any]:
        return {
            "urn": base["urn"].with_item(class_, id_),
            "concept": draw(urns("Concept", item=True)),
            "representation": draw(st.none() | representations()),
            "concept_roles": draw(some(urns("Concept", item=True), 2)),
            "annotations": draw(annotation_lists()),
        }

    groups = {"GROUP": Group(urn=base["urn"].with_item("GroupDimensionDescriptor", "GROUP"), dimensions=tuple(keys))}
    relationships = st.sampled_from(
        [
            AttributeRelationship(kind="dataset"),
            AttributeRelationship(kind="dimensions", dimensions=tuple(keys[:1])),
            AttributeRelationship(kind="group", groups=("GROUP",)),
            AttributeRelationship(kind="observation"),
        ]
    )
    return DataStructure(
        dimension_list=Items({id_: Dimension(position=n, **parts("Dimension", id_)) for n, id_ in enumerate(keys, 1)}),
        measures=Items({"VALUE": Measure(mandatory=draw(st.booleans()), **parts("Measure", "VALUE"))}),
        attributes=Items(
            {
                id_: Attribute(
                    mandatory=draw(st.booleans()), relationship=draw(relationships), **parts("DataAttribute", id_)
                )
                for id_ in rest
            }
        ),
        groups=Items(groups),
        **base,
    )


@st.composite
def dataflows(draw: Any) -> Dataflow:
    """Draw a dataflow."""
    return Dataflow(structure_reference=draw(st.none() | urns("DataStructure")), **draw(maintained("Dataflow")))


@st.composite
def constraints(draw: Any) -> DataConstraint:
    """Draw a data constraint with a region and keys."""
    value = st.builds(SelectedValue, value=TEXTS, cascade_values=st.sampled_from([None, "true"]))
    values = st.lists(value, min_size=1, max_size=3).map(tuple)
    selections = some(st.builds(MemberSelection, id=IDS, values=values, include=st.booleans()), 3)
    single = st.builds(SelectedValue, value=TEXTS).map(lambda one: (one,))
    keys = st.lists(st.builds(MemberSelection, id=IDS, values=single), min_size=1, max_size=3).map(tuple)
    key_sets = st.builds(KeySet, keys=st.lists(st.builds(Region, key_values=keys), min_size=1, max_size=2).map(tuple))
    references = st.lists(urns("Dataflow"), min_size=1, max_size=2).map(tuple)
    region = st.builds(Region, key_values=selections, include=st.booleans())
    regions = st.lists(region, max_size=2, unique_by=lambda one: one.include).map(tuple)
    return DataConstraint(
        role="Allowed",
        attachment=draw(st.none() | st.builds(ConstraintAttachment, references=references)),
        cube_regions=draw(regions),
        key_sets=draw(some(key_sets, 2)),
        **draw(maintained("DataConstraint")),
    )


@st.composite
def hierarchies(draw: Any) -> Hierarchy:
    """Draw a hierarchy with two levels."""
    base = draw(maintained("Hierarchy"))
    seen: set[str] = set()

    def level(path: str, depth: int) -> Items[HierarchicalCode]:
        # SDMX-ML requires a code, and unique ids at any depth.
        ids = draw(st.lists(IDS, unique=True, min_size=not path, max_size=2)) if depth else []
        ids = [id_ for id_ in ids if id_ not in seen]
        seen.update(ids)
        return Items(
            {
                id_: HierarchicalCode(
                    urn=base["urn"].with_item("HierarchicalCode", f"{path}{id_}"),
                    code=draw(urns("Code", item=True)),
                    codes=level(f"{path}{id_}.", depth - 1),
                )
                for id_ in ids
            }
        )

    return Hierarchy(codes=level("", 2), has_formal_levels=draw(st.booleans()), **base)


@st.composite
def representation_maps(draw: Any) -> RepresentationMap:
    """Draw a representation map from two sources to one target."""
    value = st.builds(MappedValue, value=TEXTS, is_reg_ex=st.booleans())
    rows = st.builds(RepresentationMapping, sources=st.tuples(value, value), targets=st.tuples(TEXTS))
    return RepresentationMap(
        sources=(draw(urns("Codelist")), "String"),
        targets=(draw(urns("ValueList")),),
        mappings=draw(some(rows)),
        **draw(maintained("RepresentationMap")),
    )


@st.composite
def structure_maps(draw: Any) -> StructureMap:
    """Draw a structure map of components and fixed values."""
    components = st.builds(
        ComponentMap,
        sources=st.lists(IDS, min_size=1, max_size=2).map(tuple),
        targets=st.lists(IDS, min_size=1, max_size=2).map(tuple),
        representation_map=st.none() | urns("RepresentationMap"),
    )
    fixed = st.builds(FixedValueMap, target=IDS, values=st.lists(TEXTS, min_size=1, max_size=2).map(tuple))
    return StructureMap(
        source=draw(urns("DataStructure")),
        target=draw(urns("Dataflow")),
        component_maps=draw(some(components)),
        fixed_value_maps=draw(some(fixed)),
        **draw(maintained("StructureMap")),
    )


TODAY = st.one_of(
    codelists(), concept_schemes(), category_schemes(), data_structures(), dataflows(), constraints(), hierarchies(),
    representation_maps(), structure_maps(),
)  # fmt: skip
"""Any artefact of SDMX 3.0."""

BOTH = st.one_of(codelists(), concept_schemes(), category_schemes(), dataflows())
"""Any artefact that SDMX 2.1 has in the same form."""
