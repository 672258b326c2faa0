"""Referenced item schemes reduced to the items that the answer uses (``detail=referencepartial``).

Source: SDMX REST 2.2.2, doc/structures.md ("Meaning of detail=referencepartial"). A list that an artefact of the answer
uses as a whole stays complete. If the query matches a dataflow, provision agreement or data structure, or a constraint
on one, its codelists are reduced to the codes that its constraints allow.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from typing import Final

from kafka_replica.sdmx import SdmxError, Structures, Urn
from kafka_replica.sdmx.lookups.index.attachments import attached_to
from kafka_replica.sdmx.lookups.references import late_bound, references_of
from kafka_replica.sdmx.model import (
    Artefact,
    Codelist,
    ConceptScheme,
    Constraint,
    DataStructure,
    Hierarchy,
    ItemScheme,
    OpaqueArtefact,
    ValueList,
)
from kafka_replica.server.rest.items import only_items
from kafka_replica.server.rest.references import agency_scheme_urn

RESOLVED: Final = {"Dataflow", "DataStructure", "ProvisionAgreement"}
"""The classes of artefacts to which constraints on data apply."""


def reduced(
    matched: Mapping[Urn, Artefact],
    related: Mapping[Urn, Artefact],
    structures: Structures,
    contexts: Iterable[Urn] | None = None,
    *,
    day: date | None,
) -> dict[Urn, Artefact]:
    """Return the related artefacts; item schemes have only the items that the matched and related artefacts use.

    Args:
        matched: the artefacts that the query matches.
        related: the artefacts that ``references`` adds; codelists include the codes that they inherit.
        structures: the version.
        contexts: the artefacts whose constraints determine the codes; by default, the matched artefacts and those that
            matched constraints are attached to.
        day: the date on which constraints must be valid.
    """
    if not related:
        return {}
    usage = _Usage(structures, related)
    for artefact in (*matched.values(), *related.values()):
        usage.add_references(artefact, is_matched=artefact.urn in matched)
        usage.add(agency_scheme_urn(artefact.agency), {artefact.agency.rpartition(".")[2]})
    for urn in _contexts(matched, structures) if contexts is None else contexts:
        if urn.cls in RESOLVED:
            usage.add_allowed_codes(urn, day)
    return {urn: usage.applied(artefact) for urn, artefact in related.items()}


def _contexts(matched: Mapping[Urn, Artefact], structures: Structures) -> set[Urn]:
    """Return the matched artefacts and those that matched constraints are attached to."""
    found = set(matched)
    for urn, artefact in matched.items():
        if isinstance(artefact, Constraint) and not artefact.is_stub:
            targets = (structures.locate(late_bound(target, urn)) for target in attached_to(artefact))
            found.update(target for target in targets if target is not None)
    return found


class _Usage:
    """The items of each item scheme that an answer uses; None for all items."""

    def __init__(self, structures: Structures, schemes: Mapping[Urn, Artefact]) -> None:
        self._structures = structures
        self._schemes = schemes
        self._used: dict[Urn, set[str] | None] = {}

    def add(self, scheme: Urn, paths: Iterable[str] | None) -> None:
        used = self._used.setdefault(scheme, set())
        if paths is None:
            self._used[scheme] = None
        elif used is not None:
            used.update(paths)

    def add_references(self, artefact: Artefact, *, is_matched: bool) -> None:
        if isinstance(artefact, OpaqueArtefact):
            return
        for target in references_of(artefact):
            scheme = self._structures.locate(late_bound(target.maintainable, artefact.urn))
            if scheme is None or scheme not in self._schemes:
                continue
            if target.item is not None:
                self.add(scheme, {target.item})
            elif not isinstance(self._schemes[scheme], (Codelist, ValueList)) or self._uses_whole(
                artefact, is_matched=is_matched
            ):
                self.add(scheme, None)

    @staticmethod
    def _uses_whole(artefact: Artefact, *, is_matched: bool) -> bool:
        """Return whether a reference of an artefact to a codelist uses all its codes.

        For a data structure, the codes that constraints allow count instead. A concept scheme only provides the
        representation of data structures' components, unless the query matches it.
        """
        return not isinstance(artefact, DataStructure) and (is_matched or not isinstance(artefact, ConceptScheme))

    def add_allowed_codes(self, urn: Urn, day: date | None) -> None:
        """Add the codes that are allowed for each component; all codes if this cannot be determined."""
        try:
            resolved = self._structures.resolve(urn)
        except SdmxError:
            # An artefact that validation needs is missing, so that the lists stay complete.
            for scheme, artefact in self._schemes.items():
                if isinstance(artefact, (Codelist, ValueList)):
                    self.add(scheme, None)
            return
        for component in (*resolved.components.values(), *resolved.metadata_attributes.values()):
            if component.enumeration is not None:
                self.add(component.enumeration.urn, component.allowed_ids(as_of=day))

    def applied(self, artefact: Artefact) -> Artefact:
        used = self._used.get(artefact.urn)
        is_reducible = isinstance(artefact, (ItemScheme, ValueList)) and not isinstance(artefact, Hierarchy)
        if used is None or not is_reducible or artefact.is_stub:
            return artefact
        return only_items(artefact, used)
