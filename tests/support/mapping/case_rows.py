"""Rows of the case table, and their results."""

from __future__ import annotations

from typing import Any

from support.mapping.map_cases import Case


def mapped_rows(case: Case) -> list[tuple[dict[str, Any], Any]]:
    """Yield each row with its required result: a list of findings, or of rows of texts."""
    bar = "|" in case.columns
    names = case.columns.split("|" if bar else None)
    found = []
    for number, (row, wanted) in enumerate(case.rows):
        cells = row.split("|" if bar else None)
        values = {
            name: None if cell == "-" else "-" if cell == "'-'" else cell
            for name, cell in zip(names, cells, strict=True)
        }
        wish = sorted(wanted) if isinstance(wanted, list) else [wanted]
        found.append(({**values, "_row": str(number)}, wish))
    return found


def expected(case: Case, rows: list[dict[str, Any]]) -> list[Any]:
    """Return the result of each row, in the same form."""
    found: list[list[str]] = [[] for _ in case.rows]
    for row in rows:
        errors = [one for one in row["_errors"] or () if one["severity"] == "error"]
        place = int(row["_row"])
        if errors:
            found[place] += [
                " ".join(filter(None, [error["rule"], error["component"], error["value"]])) for error in errors
            ]
            assert row["_source"]["_row"] == row["_row"]
        else:
            found[place].append(" ".join(_shown(row[name]) for name in case.targets.split()))
            assert (row["_source"] is None) == (not row["_errors"])
    return [sorted(one) for one in found]


def _shown(value: Any) -> str:
    return "-" if value is None else "'-'" if value == "-" else str(value)
