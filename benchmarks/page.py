"""Puts the last run's table and picture into the documentation: docs/speed.md and docs/speed.svg."""

from __future__ import annotations

from benchmarks.stage import ROOT

_PAGE, _PICTURE = ROOT / "docs" / "speed.md", ROOT / "docs" / "speed.svg"
_BEGIN, _END = "<!-- figures: written by make bench -->", "<!-- end of figures -->"


class PageError(Exception):
    """docs/speed.md has no place for the figures."""


def into_page(table: str, picture: str) -> None:
    """Replaces what stands between the two marks of docs/speed.md, and the picture.

    Raises:
        PageError: the marks are not there.
    """
    text = _PAGE.read_text()
    before, begin, rest = text.partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not begin or not end:
        raise PageError(f"docs/speed.md needs the lines {_BEGIN!r} and {_END!r}, which the figures go between")
    _PAGE.write_text(f"{before}{begin}\n\n{table}\n![each figure against its target]({_PICTURE.name})\n\n{end}{after}")
    _PICTURE.write_text(picture)
