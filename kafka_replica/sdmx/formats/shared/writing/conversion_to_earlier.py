"""Convert an artefact to SDMX-ML 2.0 and 1.0, and to SDMX-EDI, beyond the parts that are simply left out."""

from __future__ import annotations

import re
from typing import Final, TypeVar

from msgspec.structs import replace

from kafka_replica.sdmx.containers import InternationalString, Items
from kafka_replica.sdmx.formats.shared.reading.identity import DEFAULT_VERSION
from kafka_replica.sdmx.formats.shared.reading.standalone_items import AGENCIES, STANDALONE_CONCEPTS, synthetic_name
from kafka_replica.sdmx.model import AgencyScheme, Codelist, Concept, ConceptScheme, DataStructure
from kafka_replica.sdmx.model.base import Maintainable, Nameable
from kafka_replica.sdmx.model.representation import Representation, TextFormat

N = TypeVar("N", bound=Nameable)

_LINE_ENDS: Final = re.compile(r"[ \t]*[\r\n]\s*")
_TIME: Final = Representation(format=TextFormat(text_type="ObservationalTimePeriod"))


def as_earlier(artefact: Maintainable, *, is_10: bool) -> Maintainable:
    """Return the artefact in the form of SDMX-ML 2.0 or 1.0."""
    if artefact.is_external_reference:
        # A stub has only one address there, which is that of a message.
        address = artefact.structure_url or artefact.uri
        artefact = replace(artefact, uri=address, structure_url=address)
    if isinstance(artefact, AgencyScheme) and artefact.urn == AGENCIES and not artefact.organisations.is_stub:
        names = synthetic_name(artefact.urn)
        return AgencyScheme(
            urn=artefact.urn, names=names, organisations=artefact.organisations, is_partial=artefact.is_partial
        )
    if isinstance(artefact, ConceptScheme) and is_standalone(artefact):
        return _standing_alone(artefact, artefact.concepts)
    if is_10 and isinstance(artefact, DataStructure):
        return without_time_format(artefact)
    return artefact


def is_standalone(concept_scheme: ConceptScheme) -> bool:
    """Return True for the scheme that holds standalone concepts, which has no content of its own."""
    return (
        concept_scheme.id == STANDALONE_CONCEPTS
        and concept_scheme.version == DEFAULT_VERSION
        and not concept_scheme.concepts.is_stub
    )


def _standing_alone(concept_scheme: ConceptScheme, concepts: Items[Concept]) -> ConceptScheme:
    """Return the scheme that the reader builds for standalone concepts."""
    return ConceptScheme(
        urn=concept_scheme.urn,
        names=synthetic_name(concept_scheme.urn),
        concepts=concepts,
        is_partial=concept_scheme.is_partial,
    )


def without_time_format(data_structure: DataStructure) -> DataStructure:
    """Return the structure without the time format if that is the default of the time dimension."""
    if data_structure.dimension_list.is_stub or not any(
        each.representation == _TIME for each in data_structure.dimension_list.values()
    ):
        return data_structure
    dimensions = {
        id_: replace(each, representation=None) if each.is_time and each.representation == _TIME else each
        for id_, each in data_structure.dimension_list.items()
    }
    return replace(data_structure, dimension_list=Items(dimensions))


def as_edi(artefact: Maintainable) -> Maintainable:
    """Convert to SDMX-EDI: texts in one line, standalone concepts, a time dimension with its format."""
    if isinstance(artefact, ConceptScheme) and is_standalone(artefact):
        return _standing_alone(artefact, _in_lines(artefact.concepts))
    if isinstance(artefact, Codelist) and not artefact.codes.is_stub:
        return replace(artefact, names=_in_line(artefact.names), codes=_in_lines(artefact.codes))
    if isinstance(artefact, DataStructure) and not artefact.dimension_list.is_stub:
        dimensions = {
            id_: replace(each, representation=_TIME) if each.is_time and each.representation is None else each
            for id_, each in artefact.dimension_list.items()
        }
        return replace(artefact, names=_in_line(artefact.names), dimension_list=Items(dimensions))
    return artefact


def _in_line(found: InternationalString) -> InternationalString:
    """Remove line ends from texts; in names they come from the layout of a file."""
    if not any("\n" in text or "\r" in text for _, text in found.texts):
        return found
    return InternationalString([(language, _LINE_ENDS.sub(" ", text).strip()) for language, text in found.texts])


def _in_lines(found: Items[N]) -> Items[N]:
    made = {id_: (value, _in_line(value.names)) for id_, value in found.items()}
    if all(names is one.names for one, names in made.values()):
        return found
    return Items({id_: replace(one, names=names) for id_, (one, names) in made.items()})
