"""Insert the last run's table and picture into the documentation: docs/speed.md and docs/speed.svg."""

from __future__ import annotations

import shutil

from benchmarks.stage import ROOT

_PAGE, _PICTURE = ROOT / "docs" / "speed.md", ROOT / "docs" / "speed.svg"
_BEGIN, _END = "<!-- figures: written by make bench -->", "<!-- end of figures -->"
_SECTIONS = {
    "reading": ("<!-- readers: written by make bench -->", "<!-- end of readers -->"),
    "validation": ("<!-- validation: written by make bench -->", "<!-- end of validation -->"),
    "headers": ("<!-- headers: written by make bench -->", "<!-- end of headers -->"),
    "http": ("<!-- http: written by make bench -->", "<!-- end of http -->"),
    "publishing": ("<!-- publishing: written by make bench -->", "<!-- end of publishing -->"),
}

_DRAWN = {"validation": "seconds against rows, and against codes"}


class PageError(Exception):
    """docs/speed.md has no section for the figures."""


def into_page(table: str, picture: str) -> None:
    """Replace the text between the two marks of docs/speed.md, and the picture.

    Raises:
        PageError: the marks are missing.
    """
    _between(_BEGIN, _END, f"{table}\n![each figure against its target]({_PICTURE.name})\n")
    _PICTURE.write_text(picture)


def into_section(name: str, table: str) -> None:
    """Replace the text between the two marks of a section, and its picture if the experiment drew one.

    Raises:
        PageError: the marks are missing.
    """
    drawn = ROOT / "build" / f"{name}.svg"
    if drawn.exists():
        shutil.copyfile(drawn, _PAGE.with_name(drawn.name))
        table += f"\n![{_DRAWN[name]}]({drawn.name})\n"
    _between(*_SECTIONS[name], table)


def _between(begin: str, end: str, written: str) -> None:
    before, found, rest = _PAGE.read_text().partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise PageError(f"docs/speed.md needs the lines {begin!r} and {end!r}, which the figures go between")
    _PAGE.write_text(f"{before}{begin}\n\n{written}\n{end}{after}")
