"""HTML tables for notebooks: escaped, of bounded size, in the colours of the page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from itertools import islice
from typing import Final, NamedTuple

from kafka_replica.common.wording import counted, encodable, shortened

ROWS: Final = 20
"""The maximum number of rows that a table shows."""
_CELL: Final = 120
_CLASS: Final = "tex2jax_ignore mathjax_ignore"  # otherwise notebooks interpret dollar signs as formulas
_LEFT: Final = ' style="text-align: left"'


class TableRows(NamedTuple):
    """The rows of an object that notebooks show as a table; the fields are the arguments of :func:`html_table`."""

    columns: Sequence[str]
    rows: Iterable[Sequence[object]]
    total: int
    unit: str = "row"

    def html(self, title: str) -> str:
        """Return a table of the first rows under a title."""
        return html_table(title, *self)


def html_table(
    title: str, columns: Sequence[str], rows: Iterable[Sequence[object]], total: int | None = None, unit: str = "row"
) -> str:
    """Return a table of the first rows under a title.

    Args:
        title: the title of the table.
        columns: the names of the columns.
        rows: the cells of each row; no more than `ROWS` are taken. None is shown as an empty cell.
        total: the number of all rows; None if it is not known.
        unit: the noun for a row, for the note below a table that does not show all rows.
    """
    shown = list(islice(rows, ROWS + (total is None)))
    is_truncated = len(shown) > ROWS if total is None else total > len(shown)
    shown = shown[:ROWS]
    head = "".join(f"<th{_LEFT}>{_cell(name)}</th>" for name in columns)
    body = "".join(f"<tr>{''.join(f'<td{_LEFT}>{_cell(cell)}</td>' for cell in row)}</tr>" for row in shown)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>" if shown else ""
    of_all = "" if total is None else f" of {total:,}"
    note = f"<small>the first {counted(len(shown), unit)}{of_all}</small>" if is_truncated and shown else ""
    return f'<div class="{_CLASS}"><div><strong>{_cell(title)}</strong></div>{table}{note}</div>'


def _cell(value: object) -> str:
    text = "" if value is None else shortened(str(value), _CELL)
    return escape(encodable(text))
