"""The artefacts of a version as answers have them: codelists with the codes that they inherit."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from kafka_replica.sdmx import Codelist, SdmxError, Structures, Urn
from kafka_replica.sdmx.model import Artefact
from kafka_replica.server.rest.grammar import Detail

_UNEXPANDED = {Detail.RAW, Detail.ALL_STUBS, Detail.ALL_COMPLETE_STUBS}


class ReadArtefacts(NamedTuple):
    """The artefacts that could be read, and those that could not, each with the reason; in the order requested."""

    artefacts: dict[Urn, Artefact]
    errors: dict[Urn, SdmxError]


def read_artefacts(urns: Iterable[Urn], structures: Structures, detail: Detail) -> ReadArtefacts:
    """Return existing artefacts in a detail; stubs are made from them later.

    Source: SDMX REST 2.2.2, doc/structures.md: only ``raw`` returns codelists with extensions instead of the codes.
    """
    found = ReadArtefacts({}, {})
    for urn in urns:
        try:
            artefact = structures.get(urn)
            if isinstance(artefact, Codelist) and artefact.extensions and detail not in _UNEXPANDED:
                artefact = structures.expanded(artefact)
        except SdmxError as error:
            found.errors[urn] = error
        else:
            assert isinstance(artefact, Artefact)  # noqa: S101 - the URN names no item
            found.artefacts[urn] = artefact
    return found
