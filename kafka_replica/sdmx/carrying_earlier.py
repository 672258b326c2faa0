"""What becomes of an artefact in SDMX-ML 2.0 and 1.0, and in SDMX-EDI, beyond what is simply left out."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from kafka_replica.sdmx.base import Maintainable
from kafka_replica.sdmx.containers import Items
from kafka_replica.sdmx.model import AgencyScheme, ConceptScheme, DataStructure
from kafka_replica.sdmx.readers.identity import DEFAULT_VERSION
from kafka_replica.sdmx.readers.standalone import AGENCIES, STANDALONE_CONCEPTS
from kafka_replica.sdmx.representation import Representation, TextFormat

_TIME: Final = Representation(format=TextFormat(text_type="ObservationalTimePeriod"))


def as_earlier(artefact: Maintainable, *, is_10: bool) -> Maintainable:
    """The artefact as SDMX-ML 2.0 or 1.0 says it."""
    if artefact.is_external_reference:
        # One address is all that a stub has there, and it is that of a message.
        address = artefact.structure_url or artefact.uri
        artefact = replace(artefact, uri=address, structure_url=address)
    if isinstance(artefact, AgencyScheme) and artefact.urn == AGENCIES and not artefact.organisations.is_stub:
        return AgencyScheme(urn=artefact.urn, organisations=artefact.organisations)
    if isinstance(artefact, ConceptScheme) and is_standalone(artefact):
        return ConceptScheme(urn=artefact.urn, concepts=artefact.concepts)
    if is_10 and isinstance(artefact, DataStructure):
        return without_time_format(artefact)
    return artefact


def is_standalone(one: ConceptScheme) -> bool:
    """Whether it is where concepts go that stand alone: then the scheme says nothing of its own."""
    return one.id == STANDALONE_CONCEPTS and one.version == DEFAULT_VERSION and not one.concepts.is_stub


def without_time_format(one: DataStructure) -> DataStructure:
    """The structure without the format of time where that is the one which follows from the time dimension."""
    if one.dimension_list.is_stub or not any(each.representation == _TIME for each in one.dimension_list.values()):
        return one
    dimensions = {
        id_: replace(each, representation=None) if each.is_time and each.representation == _TIME else each
        for id_, each in one.dimension_list.items()
    }
    return replace(one, dimension_list=Items(dimensions))


def as_edi(artefact: Maintainable) -> Maintainable:
    """The artefact as SDMX-EDI says it: concepts alone, and a time dimension that always has its format."""
    if isinstance(artefact, ConceptScheme) and is_standalone(artefact):
        return ConceptScheme(urn=artefact.urn, concepts=artefact.concepts)
    if isinstance(artefact, DataStructure) and not artefact.dimension_list.is_stub:
        dimensions = {
            id_: replace(each, representation=_TIME) if each.is_time and each.representation is None else each
            for id_, each in artefact.dimension_list.items()
        }
        return replace(artefact, dimension_list=Items(dimensions))
    return artefact
