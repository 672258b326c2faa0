"""The page of an artefact: its names, items, content, references in both directions, and links to all formats."""

from __future__ import annotations

from itertools import islice
from typing import Any, Final, NamedTuple

from starlette.requests import Request

from kafka_replica.errors import KafkaReplicaError
from kafka_replica.sdmx import SdmxError, Structures, Urn, UrnError
from kafka_replica.sdmx.lookups.references import late_bound, references_of
from kafka_replica.sdmx.model import Artefact, OpaqueArtefact
from kafka_replica.sdmx.model.base import ItemScheme
from kafka_replica.server.errors.problems import Problem
from kafka_replica.server.pages.item_rows import ItemRow, has_item_rows, item_rows
from kafka_replica.server.pages.links import Links, artefact_address, format_names
from kafka_replica.server.pages.outline import outline_of_artefact, outline_of_item
from kafka_replica.server.pages.paging import number_of, page_of, start_of
from kafka_replica.server.pages.redaction import redacted
from kafka_replica.server.pages.search import words_of

ITEMS: Final = 100
LINES: Final = 200
REFERENCES: Final = 200
_SEGMENTS: Final = ("cls", "agency", "id", "artefact_version")


class ArtefactQuery(NamedTuple):
    """The artefact that a path names, and the part of its items and content to show."""

    cls: str
    agency: str
    id: str
    artefact_version: str
    start: int = 0
    line: int = 0
    text: str = ""

    @staticmethod
    def of(request: Request) -> ArtefactQuery:
        """Parse the parameters of a request.

        Raises:
            Problem: 400 if a parameter is invalid.
        """
        cls, agency, id_, version = (request.path_params[name] for name in _SEGMENTS)
        text = request.query_params.get("q", "").strip()
        return ArtefactQuery(cls, agency, id_, version, start_of(request), number_of(request, "line"), text)


def artefact_context(query: ArtefactQuery, structures: Structures, links: Links, pinned: Links) -> dict[str, Any]:
    """Return the values for the template.

    Args:
        query: the parameters.
        structures: the version.
        links: the links of the page.
        pinned: the links that are pinned to the version, for other parts of lists.

    Raises:
        Problem: 404 if the version has no such artefact.
    """
    urn = existing(query, structures)
    address = artefact_address(urn)
    context = {
        "section": "structures",
        "here": address.with_parameters(start=query.start or "", line=query.line or "", q=query.text),
        "urn": urn,
        "query": query,
        "action": links.to(address),
        "versions": [one for one in structures.find(urn.cls, urn.agency, urn.id) if one != urn],
        "formats": [(format_.title, _message_link(links, urn, name)) for format_, name in format_names().items()],
        "error": None,
    }
    try:
        artefact = structures.get(urn)
        assert isinstance(artefact, Artefact)  # noqa: S101 - the URN names no item
        return {
            **context,
            **_items(artefact, query, pinned),
            **_content(artefact, query, pinned),
            **_references(artefact, structures),
            "artefact": artefact,
        }
    except SdmxError as error:
        return {**context, "artefact": None, "error": redacted(str(error))}


def existing(query: ArtefactQuery, structures: Structures) -> Urn:
    """Return the URN of the artefact that a query names.

    Raises:
        Problem: 404 if the version has no such artefact.
    """
    wanted = (query.cls, query.agency, query.id, query.artefact_version)
    if not any("*" in part for part in wanted):
        found = [urn for urn in structures.find(*wanted[:3]) if urn.version == query.artefact_version]
        if found:  # including artefacts of classes that SDMX does not define
            return found[0]
    try:
        urn = Urn.of(*wanted)
        located = structures.locate(urn)
        if located is None:
            structures.get(urn)  # raises the error that names the existing artefacts
    except (UrnError, KafkaReplicaError) as error:
        raise Problem(404, redacted(str(error))) from error
    if located is None:
        raise Problem(404, f"version {structures.version} has no {urn.reference}")
    return located


def _items(artefact: Artefact, query: ArtefactQuery, pinned: Links) -> dict[str, Any]:
    if not has_item_rows(artefact):
        return {"has_items": False}
    rows, count = item_rows(artefact, words_of(query.text), query.start, ITEMS)
    address = artefact_address(artefact.urn).with_parameters(q=query.text, line=query.line or "")
    children = artefact.children_field if isinstance(artefact, ItemScheme) else None
    return {
        "has_items": True,
        "is_tree": isinstance(artefact, ItemScheme),
        "items": [_shown(row, children) for row in rows],
        "items_page": page_of(address, pinned, query.start, ITEMS, count),
    }


def _shown(row: ItemRow, children_field: str | None) -> dict[str, Any]:
    return {
        "row": row,
        "outline": outline_of_item(row.item, children_field),
        "annotations": getattr(row.item, "annotations", ()),
    }


def _content(artefact: Artefact, query: ArtefactQuery, pinned: Links) -> dict[str, Any]:
    lines = outline_of_artefact(artefact)
    shown = list(islice(lines, query.line, query.line + LINES))
    total = query.line + len(shown) + sum(1 for _ in lines) if shown else 0
    address = artefact_address(artefact.urn).with_parameters(q=query.text, start=query.start or "")
    return {"lines": shown, "lines_page": page_of(address, pinned, query.line, LINES, total, name="line")}


def _references(artefact: Artefact, structures: Structures) -> dict[str, Any]:
    if artefact.is_stub or isinstance(artefact, OpaqueArtefact):
        missing: list[Urn] = []
    else:
        targets = {late_bound(target, artefact.urn).maintainable for target in references_of(artefact)}
        missing = sorted(target for target in targets if structures.locate(target) is None)
    children, parents = structures.children(artefact.urn), structures.parents(artefact.urn)
    return {
        "children": children[:REFERENCES],
        "child_count": len(children),
        "parents": parents[:REFERENCES],
        "parent_count": len(parents),
        "missing": missing[:REFERENCES],
        "missing_count": len(missing),
        "unsearched": len(parents.unreadable),
    }


def _message_link(links: Links, urn: Urn, format_name: str) -> str | None:
    return links.sdmx(urn, format=format_name, detail="raw")
