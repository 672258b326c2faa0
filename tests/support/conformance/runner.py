"""The runner: it requests the answers of a service, picks artefacts, and checks the answers."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from typing import Final, NamedTuple

from support.conformance.constrained_codes import check_constrained_codes
from support.conformance.kit_tests import ITEM_SCHEMES, RESOURCES, Check, KitTest, first_test, further_tests
from support.conformance.structure_checks import (
    CheckError,
    Picked,
    check_detail,
    check_identification,
    check_references,
    check_target_category,
)
from support.conformance.workspace import Artefact, Workspace

UNABLE: Final = "unable to run"
"""The reason of tests that depend on a failed one."""


class Answer(NamedTuple):
    """An answer of the service."""

    status: int
    content_type: str
    body: bytes


class Outcome(NamedTuple):
    """The outcome of a test for a picked artefact: the reason of the failure, or None if it passed."""

    test: str
    picked: str
    reason: str | None


Fetch = Callable[[str, str], Answer]
"""Requests a path with its query, and accepts the formats of a header."""
Address = Callable[[KitTest, Picked | None], str]
"""Returns the path and query of a test's request."""

_CHECKS: Final = {
    Check.IDENTIFICATION: check_identification,
    Check.REFERENCES: check_references,
    Check.DETAIL: check_detail,
    Check.TARGET_CATEGORY: check_target_category,
}


class StructureTests:
    """The tests of structures against one service.

    Args:
        fetch: requests an answer.
        address: the requests, which depend on the version of the API.
        accept: the header Accept of tests that name no format.
        lacking: the resources that the version of the API does not have.
    """

    def __init__(self, fetch: Fetch, address: Address, accept: str = "*/*", lacking: Container[str] = ()) -> None:
        self._fetch, self._address, self._accept, self._lacking = fetch, address, accept, lacking

    def run(self) -> Iterator[Outcome]:
        """Yield the outcomes of all tests, for each artefact that the kit could pick."""
        for resource in RESOURCES:
            if resource not in self._lacking:
                yield from self._of_resource(resource)

    def _of_resource(self, resource: str) -> Iterator[Outcome]:
        first = first_test(resource)
        found = self._artefacts(first)
        if isinstance(found, str):
            yield Outcome(first.name, "", found)
            yield from (Outcome(further_test.name, "", UNABLE) for further_test in further_tests(resource))
            return
        yield Outcome(first.name, "", None)
        for artefact in found:
            yield from self._of_artefact(resource, artefact, found)

    def _artefacts(self, first: KitTest) -> list[Artefact] | str:
        """Return the artefacts that the kit can pick; the reason of the failure if there are none."""
        answer = self._fetch(self._address(first, None), self._accept)
        if answer.status != 200:
            return f"the status is {answer.status}"
        cls = RESOURCES[first.resource]
        if not cls:
            return "the kit has no class for the resource"
        return Workspace.of_message(answer.body).of_class(cls) or f"the kit finds no {cls} in the answer"

    def _of_artefact(self, resource: str, artefact: Artefact, found: list[Artefact]) -> Iterator[Outcome]:
        items: tuple[str, ...] = ()
        for test in further_tests(resource):
            if test.references in self._lacking:
                continue
            picked = Picked(artefact.reference, items[: test.items])
            if test.items and not picked.items:
                yield Outcome(test.name, str(picked.reference), "the kit finds no items")
                continue
            reason, workspace = self._checked(test, picked, found)
            if test.name.endswith("/agency/id/version") and workspace is not None:
                own = workspace.artefacts.get(artefact.reference)
                items = tuple(own.items) if own is not None and own.reference.cls in ITEM_SCHEMES else ()
                items = items if len(items) > 1 else ()
            yield Outcome(test.name, str(picked.reference), reason)

    def _checked(self, test: KitTest, picked: Picked, found: list[Artefact]) -> tuple[str | None, Workspace | None]:
        if test.check is Check.CONSTRAINED_CODES:
            return check_constrained_codes(test, picked, found, self._workspace), None
        answer = self._fetch(self._address(test, picked), test.accept or self._accept)
        if answer.status != 200:
            return f"the status is {answer.status}", None
        if test.check is Check.FORMAT:
            content_type = answer.content_type.replace("; ", ";")
            wanted = test.accept or "application/vnd.sdmx.structure+xml;version=2.1"
            return (None if content_type in wanted else f"the format is {content_type}"), None
        workspace = Workspace.of_message(answer.body)
        try:
            return _CHECKS[test.check](test, picked, workspace), workspace
        except CheckError as error:
            return str(error), workspace

    def _workspace(self, test: KitTest, picked: Picked) -> Workspace | str:
        answer = self._fetch(self._address(test, picked), self._accept)
        return Workspace.of_message(answer.body) if answer.status == 200 else f"the status is {answer.status}"
