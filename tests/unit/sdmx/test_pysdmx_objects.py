"""Objects of pysdmx made without its readers, as the comparisons with its readers expect them."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import Any

import pytest
from msgspec.structs import replace

from kafka_replica.errors import MissingExtraError
from kafka_replica.sdmx import Items, read_message
from kafka_replica.sdmx.errors import NotExpressibleError
from kafka_replica.sdmx.model import Annotation, Artefact, AttributeRelationship, MetadataSet
from support.paths import SDMX_DATA
from support.sdmx.ml_messages_by_hand import METADATA
from support.sdmx.pysdmx_objects import library, to_pysdmx
from support.sdmx.pysdmx_samples import EXPRESSIBLE, of_class, sample

model = pytest.importorskip("pysdmx.model")

DATA = SDMX_DATA


def test_codes_keep_their_order_names_and_validity() -> None:
    """Codes keep their order, with names in the requested language; validity comes from registries' annotations."""
    mine = sample("CL_REF_AREA")
    made = to_pysdmx(mine)
    assert isinstance(made, model.Codelist)
    assert made.short_urn == "Codelist=KR_DEMO:CL_REF_AREA(1.0)"
    assert [code.id for code in made] == list(mine.codes)
    first = next(iter(mine.codes))
    for language in mine.codes[first].names:
        assert to_pysdmx(mine, language=language)[first].name == mine.codes[first].name(language)
    assert to_pysdmx(mine, language="xx")[first].name is None
    note = Annotation(type="FR_VALIDITY_PERIOD", title="1989-06-01T00:00:00/")
    code = replace(mine.codes[first], annotations=(note, Annotation(id="other")))
    dated = to_pysdmx(replace(mine, codes=Items({first: code})))[first]
    assert (dated.valid_from, dated.valid_to) == (datetime(1989, 6, 1, tzinfo=UTC), None)
    assert [annotation.id for annotation in dated.annotations] == ["other"]


def test_components_are_those_of_pysdmxs_own_readers() -> None:
    """Components have roles, references, formats and levels, as from pysdmx's own readers."""
    mine = sample("DSD_LABOUR")
    made = to_pysdmx(mine)
    assert [part.id for part in made.components.dimensions] == list(mine.dimension_list)
    assert [part.id for part in made.components.measures] == list(mine.measures)
    for part in made.components:
        own = next(component for component in mine.components if component.id == part.id)
        assert str(part.concept) == f"Concept={own.concept.reference}"
        representation = own.representation
        if representation is not None and representation.enumeration is not None:
            assert part.local_enum_ref == str(representation.enumeration)
    schema = made.to_schema()
    assert schema.short_urn == "DataStructure=KR_DEMO:DSD_LABOUR(1.0)"


@pytest.mark.parametrize(
    ("about", "level"),
    [
        (AttributeRelationship(kind="dataset"), "D"),
        (AttributeRelationship(kind="observation"), "O"),
        (AttributeRelationship(kind="observation", measures=("OBS_VALUE",)), "O"),
        (AttributeRelationship(kind="dimensions", dimensions=("FREQ", "SEX")), "FREQ,SEX"),
        (AttributeRelationship(kind="observation", measures=("M1", "M2")), "M1,M2"),
        (AttributeRelationship(kind="dimensions", dimensions=("FREQ",), measures=("M1",)), "M1,FREQ"),
        (AttributeRelationship(kind="group", groups=("NOWHERE",)), "D"),
    ],
)
def test_an_attribute_relationship_becomes_an_attachment_level(about: AttributeRelationship, level: str) -> None:
    """Each kind of attribute relationship becomes the attachment level that pysdmx has for it."""
    mine = sample("DSD_LABOUR")
    first = next(iter(mine.attributes.values()))
    changed = replace(mine, attributes=Items({first.id: replace(first, relationship=about)}))
    assert to_pysdmx(changed).components[first.id].attachment_level == level


@pytest.mark.thorough
def test_content_that_pysdmx_would_interpret_differently_is_refused() -> None:
    """Content that pysdmx would interpret differently is refused, with the URN and the reason."""
    for cls, reason in {
        "Codelist": "extend others",
        "DataConstraint": "in constraints",
        "DataStructure": "metadata attributes",
        "GeographicCodelist": "no class for a GeographicCodelist",
        "Process": "no class for a Process",
        "RepresentationMap": "mapped to nothing|parts of values",
        "StructureMap": "epoch maps",
        "VtlMappingScheme": "M4",
    }.items():
        with pytest.raises(NotExpressibleError, match=reason) as error:
            to_pysdmx(of_class(cls))
        assert str(of_class(cls).urn) in str(error.value)
    with pytest.raises(NotExpressibleError, match="not a date or time"):
        to_pysdmx(replace(sample("CL_REF_AREA"), valid_from="soon"))


@pytest.mark.parametrize("cls", EXPRESSIBLE)
def test_each_class_of_pysdmx_becomes_an_object(cls: str) -> None:
    """Each class that pysdmx has becomes an object of it, with its URN, names, annotations and items."""
    mine: Artefact = of_class(cls)
    made = to_pysdmx(mine)
    assert made.short_urn == f"{cls}={mine.urn.reference}"
    assert (made.urn, made.name, made.description) == (str(mine.urn), mine.name(), mine.description())
    assert [note.id for note in made.annotations] == [note.id for note in mine.annotations]
    if hasattr(mine, "items") and hasattr(made, "items"):
        assert [item.name for item in made.items] == [item.name() for item in mine.items.values()]


def test_a_metadata_set_becomes_a_report() -> None:
    """A metadata set becomes a report with values, texts in the language, and nested attributes."""
    [mine] = read_message(METADATA)
    assert isinstance(mine, MetadataSet)
    made = to_pysdmx(mine)
    assert (made.short_urn, made.metadataflow) == (f"MetadataReport={mine.urn.reference}", str(mine.metadataflow))
    assert made.targets == mine.targets
    own = {attribute.id: attribute for attribute in mine.attributes}
    assert [attribute.id for attribute in made.attributes] == list(own)
    for attribute in made.attributes:
        assert [child.id for child in attribute.attributes] == [child.id for child in own[attribute.id].attributes]
        values: list[Any] = [
            *own[attribute.id].values,
            own[attribute.id].texts.in_language(),
            own[attribute.id].structured_texts.in_language(),
        ]
        assert attribute.value in ([value for value in values if value is not None] or [None])


def test_a_stub_becomes_an_artefact_marked_as_one() -> None:
    """A stub becomes an artefact without content that is marked as one."""
    mine = of_class("ConceptScheme")
    from kafka_replica.sdmx.containers import StubItems

    made = to_pysdmx(replace(mine, is_external_reference=True, concepts=StubItems(mine.urn)))
    assert made.is_external_reference
    assert list(made) == []


def test_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without pysdmx the error names the extra to install."""
    monkeypatch.setitem(sys.modules, "pysdmx", None)
    library.pysdmx.cache_clear()
    with pytest.raises(MissingExtraError, match=r"kafka-replica\[pysdmx\]"):
        to_pysdmx(of_class("ConceptScheme"))
    library.pysdmx.cache_clear()
