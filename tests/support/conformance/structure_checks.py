"""The kit's checks of answers to queries for structures; each returns the reason of a failure, or None.

Source: StructuresSemanticChecker.js and ContentConstraintReferencePartialChecker.js.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from support.conformance.kit_tests import RESOURCES, KitTest
from support.conformance.workspace import Artefact, Reference, Workspace


class CheckError(Exception):
    """The error of a check that the kit cannot complete, which it counts as a failure of the service."""


class Picked(NamedTuple):
    """The artefact that a test is about, and the items that it requests."""

    reference: Reference
    items: tuple[str, ...] = ()


def check_identification(test: KitTest, picked: Picked, workspace: Workspace) -> str | None:
    """Check that the answer has the requested artefacts: exactly one, unless a part of the path is all."""
    wanted = picked.reference
    found = [
        one.reference
        for one in workspace.of_class(RESOURCES[test.resource])
        if (test.agency is not None or one.reference.agency == wanted.agency)
        and (test.id is not None or one.reference.id == wanted.id)
        and (test.version is not None or one.reference.version == wanted.version)
    ]
    if test.items:
        return _check_items(picked, workspace)
    if test.agency == test.id == test.version == "all":
        return None
    if "all" in {test.agency, test.id, test.version}:
        return None if found else "no artefact matches"
    return None if len(found) == 1 else f"{len(found)} artefacts instead of one"


def _check_items(picked: Picked, workspace: Workspace) -> str | None:
    found = workspace.artefacts.get(picked.reference)
    if found is None:
        return "the artefact is missing"
    return None if found.items == list(picked.items) else f"the items are {found.items} instead of {picked.items}"


def check_target_category(test: KitTest, picked: Picked, workspace: Workspace) -> str | None:
    """Check that all categorisations of the answer have the requested category as their target."""
    reason = _check_items(picked, workspace)
    targets = [ids for one in workspace.of_class("Categorisation") for ids in one.children.values()]
    named = sum(ids.count(picked.items[0]) for ids in targets)
    if reason is None and named != len(workspace.of_class("Categorisation")):
        reason = "the item is not the target of all categorisations"
    return reason or check_references(test, picked, workspace)


def check_references(test: KitTest, picked: Picked, workspace: Workspace) -> str | None:
    """Check that the answer has exactly the artefacts that are related as requested; agency schemes may be more."""
    own = workspace.artefacts.get(picked.reference)
    if own is None:
        raise CheckError("the requested artefact is missing")
    related = dict(_related(test.references, own, picked, workspace))
    only = RESOURCES.get(test.references)
    missing = [one for one, found in related.items() if not found and only in {None, one.cls}]
    if missing:
        return f"missing: {_listed(missing)}"
    more = [
        artefact
        for artefact in workspace.artefacts
        if artefact != picked.reference
        and (
            (artefact not in related and artefact.cls != "AgencyScheme")
            or (artefact in related and only not in {None, artefact.cls})
        )
    ]
    return f"not related: {_listed(more)}" if more else None


def _listed(references: list[Reference]) -> str:
    rest = f" and {len(references) - 1} others" if len(references) > 1 else ""
    return f"{references[0]}{rest}"


def _related(references: str, own: Artefact, picked: Picked, workspace: Workspace) -> Iterator[tuple[Reference, bool]]:
    """Yield the artefacts that an answer should have, each with whether it has it."""
    if references in {"children", "descendants", "all"} or references in RESOURCES:
        yield from _children(own, workspace, deep=references in {"descendants", "all"}, known=set())
    if references in {"parents", "parentsandsiblings", "all"} or references in RESOURCES:
        for parent in _parents(own, picked, workspace):
            yield parent.reference, True
            if references in {"parentsandsiblings", "all"}:
                yield from ((one, found is not None) for one, found in workspace.children(parent))


def _children(
    own: Artefact, workspace: Workspace, *, deep: bool, known: set[Reference]
) -> Iterator[tuple[Reference, bool]]:
    if not own.is_full:
        raise CheckError(f"{own.reference} is a stub")
    known.add(own.reference)
    for one, found in workspace.children(own):
        yield one, found is not None
        if deep and found is not None and one not in known:
            yield from _children(found, workspace, deep=True, known=known)


def _parents(own: Artefact, picked: Picked, workspace: Workspace) -> Iterator[Artefact]:
    for artefact in workspace.artefacts.values():
        if artefact is own:
            continue
        if not artefact.is_full:
            raise CheckError(f"{artefact.reference} is a stub")
        ids = artefact.children.get(own.reference)
        if ids is not None and set(picked.items) <= set(ids):
            yield artefact


def check_detail(test: KitTest, picked: Picked, workspace: Workspace) -> str | None:
    """Check that all artefacts, or only those referred to, are complete, or stubs."""
    if test.detail.startswith("reference"):
        own = workspace.artefacts.get(picked.reference)
        if own is None:
            raise CheckError("the requested artefact is missing")
        wrong = [one for one, found in workspace.children(own) if found is None or not _fits(test, own, one, found)]
    else:
        kinds = {"full": "is_full", "allstubs": "is_stub", "allcompletestubs": "is_complete_stub"}
        wrong = [
            artefact.reference for artefact in workspace.artefacts.values() if not getattr(artefact, kinds[test.detail])
        ]
    return f"of another detail: {_listed(wrong)}" if wrong else None


def _fits(test: KitTest, own: Artefact, reference: Reference, found: Artefact) -> bool:
    if test.detail == "referencestubs":
        return found.is_stub
    if test.detail == "referencecompletestubs":
        return found.is_complete_stub
    if reference.cls != "ConceptScheme":
        return True
    used = own.children[reference]
    return set(found.items) <= set(used) and bool(found.items) == bool(used)
