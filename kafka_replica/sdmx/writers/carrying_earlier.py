"""What becomes of an artefact in SDMX-ML 2.0 and 1.0, and in SDMX-EDI, beyond what is simply left out."""

from __future__ import annotations

import re
from typing import Final, TypeVar

from msgspec.structs import replace

from kafka_replica.sdmx.base import Maintainable, Nameable
from kafka_replica.sdmx.containers import InternationalString, Items
from kafka_replica.sdmx.model import AgencyScheme, Codelist, Concept, ConceptScheme, DataStructure
from kafka_replica.sdmx.readers.identity import DEFAULT_VERSION
from kafka_replica.sdmx.readers.standalone import AGENCIES, STANDALONE_CONCEPTS, synthetic_name
from kafka_replica.sdmx.representation import Representation, TextFormat

N = TypeVar("N", bound=Nameable)

_LINE_ENDS: Final = re.compile(r"[ \t]*[\r\n]\s*")
_TIME: Final = Representation(format=TextFormat(text_type="ObservationalTimePeriod"))


def as_earlier(artefact: Maintainable, *, is_10: bool) -> Maintainable:
    """Return the artefact as SDMX-ML 2.0 or 1.0 says it."""
    if artefact.is_external_reference:
        # One address is all that a stub has there, and it is that of a message.
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


def is_standalone(one: ConceptScheme) -> bool:
    """Whether it is where concepts go that stand alone: then the scheme says nothing of its own."""
    return one.id == STANDALONE_CONCEPTS and one.version == DEFAULT_VERSION and not one.concepts.is_stub


def _standing_alone(one: ConceptScheme, concepts: Items[Concept]) -> ConceptScheme:
    """Return the scheme that the reader makes of concepts that stand alone."""
    return ConceptScheme(urn=one.urn, names=synthetic_name(one.urn), concepts=concepts, is_partial=one.is_partial)


def without_time_format(one: DataStructure) -> DataStructure:
    """Return the structure without the format of time where that is the one which follows from the time dimension."""
    if one.dimension_list.is_stub or not any(each.representation == _TIME for each in one.dimension_list.values()):
        return one
    dimensions = {
        id_: replace(each, representation=None) if each.is_time and each.representation == _TIME else each
        for id_, each in one.dimension_list.items()
    }
    return replace(one, dimension_list=Items(dimensions))


def as_edi(artefact: Maintainable) -> Maintainable:
    """The artefact as SDMX-EDI says it: texts in one line, concepts alone, a time dimension that has its format."""
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
    """Texts without line ends, which in names are those of a file that somebody laid out."""
    if not any("\n" in text or "\r" in text for _, text in found.texts):
        return found
    return InternationalString([(language, _LINE_ENDS.sub(" ", text).strip()) for language, text in found.texts])


def _in_lines(found: Items[N]) -> Items[N]:
    made = {id_: (one, _in_line(one.names)) for id_, one in found.items()}
    if all(names is one.names for one, names in made.values()):
        return found
    return Items({id_: replace(one, names=names) for id_, (one, names) in made.items()})
