"""Reading of artefacts for answers, which add inherited codes to codelists."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, TypeGuard

from kafka_replica.sdmx import Codelist, SdmxError, Structures, Urn
from kafka_replica.sdmx.model import Artefact
from kafka_replica.server.rest.grammar import Detail

_UNEXPANDED = {Detail.RAW, Detail.ALL_STUBS, Detail.ALL_COMPLETE_STUBS}


class ReadArtefacts(NamedTuple):
    """The readable artefacts, and the errors of the unreadable ones, in the requested order."""

    artefacts: dict[Urn, Artefact]
    errors: dict[Urn, SdmxError]


def needs_inherited_codes(artefact: object, detail: Detail) -> TypeGuard[Codelist]:
    """Return whether an answer has the codes that an artefact inherits; then the artefact is a codelist.

    Source: SDMX REST 2.2.2, doc/structures.md: only ``raw`` returns codelists with extensions instead of the codes.
    """
    return isinstance(artefact, Codelist) and bool(artefact.extensions) and detail not in _UNEXPANDED


def read_artefacts(urns: Iterable[Urn], structures: Structures, detail: Detail) -> ReadArtefacts:
    """Read existing artefacts for an answer with a detail; reduction to stubs is a later step."""
    found = ReadArtefacts({}, {})
    for urn in urns:
        try:
            artefact = structures.get(urn)
            if needs_inherited_codes(artefact, detail):
                artefact = structures.expand(artefact)
        except SdmxError as error:
            found.errors[urn] = error
        else:
            assert isinstance(artefact, Artefact)  # noqa: S101 - the URN names no item
            found.artefacts[urn] = artefact
    return found
