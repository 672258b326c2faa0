"""The reference of the queries as Markdown tables, derived from the grammar: a part of ``docs/sdmx-rest.md``.

``python -m kafka_replica.server.rest.reference_page docs/sdmx-rest.md`` updates the page after a change.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from kafka_replica.server.rest.grammar import (
    DETAILS,
    IGNORED_PARAMETERS,
    NOT_IMPLEMENTED,
    REFERENCES,
    RESOURCES,
    SCHEMA_PARAMETERS,
    SEGMENTS,
    STRUCTURE_PARAMETERS,
    Api,
    Items,
)
from kafka_replica.server.rest.negotiation import FORMAT_NAMES, FORMAT_NAMES_BY_API, PREFERENCES

BEGIN: Final = "<!-- the reference, generated from the grammar -->"
END: Final = "<!-- the end of the reference -->"


def reference() -> str:
    """Return the tables of resources, path segments, parameters, values and formats."""
    parts = _resources, _segments, _parameters, _values, _formats, _others
    return "\n\n".join(part() for part in parts)


def with_reference(page: str) -> str:
    """Return a page with the current reference between its marks. Raises ValueError if it has no marks."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the page has no marks {BEGIN} and {END}")
    return f"{before}{BEGIN}\n\n{reference()}\n\n{END}{after}"


def _resources() -> str:
    rows = [("`structure` (1.x), `*` or, after `v2`, `all` (2.x)", "1.x, 2.x", "all of these", "of schemes")]
    for row in RESOURCES.values():
        role = "" if row.role is None else f" with the role {row.role}"
        items = {Items.NONE: "", Items.FLAT: "alone", Items.NESTED: "with those above"}[row.items]
        rows.append((f"`{row.name}`", _apis(row.apis), ", ".join(row.classes) + role, items))
    return _table(("resource", "API", "classes", "items"), rows)


def _segments() -> str:
    rows = [(f"`{segment.name}`", f"`{segment.default}`", segment.example) for segment in SEGMENTS]
    return _table(("path segment", "default in 2.x", "examples"), rows)


def _parameters() -> str:
    contexts = ", ".join(f"`{row.name}`" for row in RESOURCES.values() if row.is_schema_context)
    return _table(
        ("query", "parameters"),
        [
            ("structures", ", ".join(f"`{name}`" for name in STRUCTURE_PARAMETERS)),
            (f"`schema` for {contexts}", ", ".join(f"`{name}`" for name in SCHEMA_PARAMETERS)),
            ("both, without effect", ", ".join(f"`{name}`" for name in sorted(IGNORED_PARAMETERS))),
        ],
    )


def _values() -> str:
    details = [("`detail`", f"`{value}`", _apis(apis)) for value, apis in DETAILS.items()]
    references = [("`references`", f"`{value}`", _apis(apis)) for value, apis in REFERENCES.items()]
    names = [("`references`", "the name of a resource: parents and children of its classes", "1.x, 2.x")]
    return _table(("parameter", "value", "API"), [*details, *references, *names])


def _formats() -> str:
    names: dict[str, list[str]] = {}
    for name, format_ in FORMAT_NAMES.items():
        names.setdefault(format_, []).append(f"`{name}`")
    for name, by_api in FORMAT_NAMES_BY_API.items():
        for api, format_ in by_api.items():
            names.setdefault(format_, []).append(f"`{name}` ({_apis([api])})")
    rows = [(format_.title, f"`{format_}`", ", ".join(names[format_])) for format_ in PREFERENCES[Api.V2]]
    return _table(("format", "media type", "`format=`"), rows)


def _others() -> str:
    queries = ", ".join(f"`{name}`" for name in NOT_IMPLEMENTED)
    return f"Queries that begin with {queries} have the status 501."


def _apis(apis: Iterable[Api]) -> str:
    return ", ".join({Api.V1: "1.x", Api.V2: "2.x"}[api] for api in sorted(apis))


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.write_text(with_reference(target.read_text()))
