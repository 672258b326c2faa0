"""The kit's test of constraints: a codelist of the constrained artefact has the codes that the constraint allows.

Source: ContentConstraintReferencePartialChecker.js, ContentConstraintTypeValidator.js.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from support.conformance.data_structure import structure_of
from support.conformance.kit_tests import KitTest
from support.conformance.structure_checks import Picked
from support.conformance.workspace import Artefact, Reference, Workspace

GetWorkspace = Callable[[KitTest, Picked], "Workspace | str"]


def allowed_values(constraint: Artefact) -> dict[str, set[str]]:
    """Return the values that the regions of a constraint include, by component."""
    return {
        key.get("id", ""): {value.text or "" for value in key.iter("{*}Value")}
        for region in constraint.element.findall("{*}CubeRegion")
        if region.get("include") == "true"
        for key in region.findall("{*}KeyValue")
    }


def check_constrained_codes(
    test: KitTest, picked: Picked, found: list[Artefact], workspace_of: GetWorkspace
) -> str | None:
    """Request the constraint with its descendants, then the constrained artefact with partial codelists."""
    if _type(picked.reference, found) != "Allowed":
        picked = Picked(next(one.reference for one in found if one.element.get("type") == "Allowed"))
    whole = workspace_of(test, picked)
    constraint = None if isinstance(whole, str) else whole.artefacts.get(picked.reference)
    if isinstance(whole, str) or constraint is None:
        return "the answer lacks the constraint"
    for attached, codelist, values in _constrained(constraint, whole):
        return _check_codes(test, attached, codelist, values, workspace_of)
    return "no data structure has a coded dimension that the constraint names"


def _check_codes(
    test: KitTest, attached: Reference, codelist: Reference, values: set[str], workspace_of: GetWorkspace
) -> str | None:
    resource = attached.cls.lower()
    references = "children" if resource == "datastructure" else "descendants"
    partial = KitTest(test.name, resource, detail="referencepartial", references=references)
    answer = workspace_of(partial, Picked(attached))
    codes = None if isinstance(answer, str) else answer.artefacts.get(codelist)
    if codes is None:
        return f"the answer lacks {codelist}"
    if not codes.is_partial:
        return f"{codelist} is not partial"
    return None if values <= set(codes.items) else f"{codelist} lacks codes that the constraint allows"


def _type(reference: Reference, found: list[Artefact]) -> str | None:
    return next(one.element.get("type") for one in found if one.reference == reference)


def _constrained(constraint: Artefact, whole: Workspace) -> Iterator[tuple[Reference, Reference, set[str]]]:
    """Yield the constrained artefacts, each with a codelist and the values that the constraint allows in it."""
    for attached in constraint.children:
        structure = structure_of(attached, whole)
        for component, values in allowed_values(constraint).items():
            codelist = None if structure is None else structure.coded(component)
            if codelist is not None:
                yield attached, codelist, values
                break
