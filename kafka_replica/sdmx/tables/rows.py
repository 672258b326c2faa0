"""The columns of a table of codes, as plain lists, without any library."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

from kafka_replica.sdmx.containers import InternationalString
from kafka_replica.sdmx.errors import NotExpressibleError
from kafka_replica.sdmx.model import Annotation, Artefact, ItemScheme, Maintainable, OpaqueArtefact, ValueList

Columns: TypeAlias = dict[str, list[Any]]
Row: TypeAlias = tuple[str, str | None, Any]
"""The path of an item, the path of its parent, and the item."""

PLAIN = ("urn", "id", "path", "name", "description", "parent")
MAPS = ("names", "descriptions")
LAST = ("code", "valid_from", "valid_to")


def columns_of(
    artefacts: Artefact | Iterable[Artefact], language: str | None, languages: Sequence[str] | None
) -> Columns:
    """Return the columns, in order, by name. Raises NotExpressibleError, UnreadableContentError."""
    chosen = [artefacts] if isinstance(artefacts, Maintainable) else list(artefacts)
    texts = MAPS if languages is None else [f"{kind}_{each}" for each in languages for kind in ("name", "description")]
    columns: Columns = {name: [] for name in (*PLAIN, "position", *texts, *LAST, "annotations")}
    for artefact in chosen:
        urn = str(artefact.urn)
        for position, (path, parent, item) in enumerate(_rows(artefact), start=1):
            names, descriptions = _texts(item)
            own = {
                "urn": urn,
                "id": item.id,
                "path": path,
                "name": names.in_language(language),
                "description": descriptions.in_language(language),
                "parent": parent,
                "position": position,
                "code": _code(item),
                "valid_from": getattr(item, "valid_from", None),
                "valid_to": getattr(item, "valid_to", None),
                "annotations": [_annotation(annotation) for annotation in item.annotations],
                **_by_language(names, descriptions, languages),
            }
            for name, column in columns.items():
                column.append(own[name])
    return columns


def _rows(artefact: Artefact) -> Iterator[Row]:
    if isinstance(artefact, ValueList):
        yield from ((item.id, None, item) for item in artefact.values)
    elif isinstance(artefact, ItemScheme):
        yield from _walk(artefact.items.items(), artefact.children_field, None)
    elif isinstance(artefact, OpaqueArtefact):
        _ = artefact.items  # raises
    else:
        raise NotExpressibleError(
            f"making a table of {artefact.urn}: a {artefact.urn.cls} is not made of items; "
            "tables are for codelists, value lists, schemes and hierarchies"
        )


def _walk(items: Iterable[tuple[str, Any]], children: str | None, above: str | None) -> Iterator[Row]:
    for item_id, item in items:
        path = item_id if above is None else f"{above}.{item_id}"
        yield path, getattr(item, "parent", None) if children is None else above, item
        if children is not None:
            yield from _walk(getattr(item, children).items(), children, path)


def _texts(item: Any) -> tuple[InternationalString, InternationalString]:
    nothing = InternationalString()
    return getattr(item, "names", nothing), getattr(item, "descriptions", nothing)


def _by_language(
    names: InternationalString, descriptions: InternationalString, languages: Sequence[str] | None
) -> dict[str, Any]:
    if languages is None:
        return {"names": dict(names), "descriptions": dict(descriptions)}
    by_name = {f"name_{language}": names.get(language) for language in languages}
    return by_name | {f"description_{language}": descriptions.get(language) for language in languages}


def _code(item: Any) -> str | None:
    code = getattr(item, "code", None)
    return None if code is None else str(code)


def _annotation(annotation: Annotation) -> dict[str, Any]:
    return {
        "id": annotation.id,
        "title": annotation.title,
        "type": annotation.type,
        "value": annotation.value,
        "url": annotation.url,
        "text": dict(annotation.text),
    }
