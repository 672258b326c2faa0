"""A reader of pages: their text, links, headings and form fields, and the rules that every page follows."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Final

from starlette.testclient import TestClient

BROWSER: Final = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
"""The headers that a browser sends."""
_VOID: Final = {"meta", "link", "input", "br", "img", "hr"}


class PageContent(HTMLParser):
    """The content of a page.

    Raises:
        AssertionError: elements are not closed in their order.
    """

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.links: dict[str, str] = {}
        """The text of each link with its address; of equal texts, the last."""
        self.text = ""
        self.tables: dict[str, list[list[str]]] = {}
        """The caption of each table, with the texts of the cells of its rows; the first row has the headings."""
        self._rows: list[list[str]] = []
        self._open: list[str] = []
        self._link: tuple[str, list[str]] | None = None
        self.feed(page)
        self.close()
        assert not self._open, self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        found = dict(attrs)
        self.elements.append((tag, found))
        if tag not in _VOID:
            self._open.append(tag)
        if tag == "table":
            self._rows = []
        if tag == "tr":
            self._rows.append([])
        if tag in {"td", "th"}:
            self._rows[-1].append("")
        if tag == "a":
            self._link = found["href"] or "", []

    def handle_endtag(self, tag: str) -> None:
        """Note the end of an element."""
        assert self._open.pop() == tag
        if tag == "a" and self._link is not None:
            self.links["".join(self._link[1]).strip()] = self._link[0]
            self._link = None

    def handle_data(self, data: str) -> None:
        """Note a text."""
        self.text += data
        if {"td", "th"} & set(self._open):
            self._rows[-1][-1] += data
        if self._open[-1:] == ["caption"]:
            self.tables[data] = self._rows
        if self._link is not None:
            self._link[1].append(data)

    def named(self, tag: str) -> list[dict[str, str | None]]:
        """Return the attributes of all elements of a kind."""
        return [attributes for name, attributes in self.elements if name == tag]

    def column(self, caption: str, number: int) -> list[str]:
        """Return the texts of a column, without its heading; of no table, none."""
        return [" ".join(row[number].split()) for row in self.tables.get(caption, [])[1:]]

    def check(self) -> None:
        """Check what holds for every page.

        Nothing is executed or fetched from elsewhere, landmarks and headings are there, ids are unique, fields have
        labels, tables have captions and headings, and there are no inline styles, which the policy would refuse.
        """
        assert not {tag for tag, _ in self.elements} & {"script", "style", "iframe", "object", "base"}
        for _, attributes in self.elements:
            assert not [name for name in attributes if name.startswith("on") or name == "style"]
        for attributes in [*self.named("link"), *self.named("a"), *self.named("form"), *self.named("img")]:
            address = attributes.get("href") or attributes.get("src") or attributes.get("action") or ""
            assert not address.lower().startswith(("javascript:", "data:", "//")), address
        assert [one["lang"] for one in self.named("html")] == ["en"]
        assert [len(self.named(name)) for name in ("main", "header", "h1", "title")] == [1, 1, 1, 1]
        assert all(one.get("aria-label") for one in self.named("nav"))
        ids = [attributes["id"] for _, attributes in self.elements if "id" in attributes]
        assert len(ids) == len(set(ids))
        levels = [int(tag[1]) for tag, _ in self.elements if tag in {"h1", "h2", "h3", "h4"}]
        assert all(now <= before + 1 for before, now in zip([0, *levels], levels, strict=False))
        labelled = {one.get("for") for one in self.named("label")}
        assert all(
            one.get("id") in labelled
            for name in ("input", "select")
            for one in self.named(name)
            if one.get("type") != "hidden"
        )
        references = [element[1].get("aria-labelledby") for element in self.elements if "aria-labelledby" in element[1]]
        assert set(references) <= set(ids)
        assert all(one.get("scope") for one in self.named("th"))
        assert len(self.named("caption")) == len(self.named("table"))


def page_at(client: TestClient, path: str, status: int = 200) -> PageContent:
    """Return the page that a browser gets, after the checks that hold for all pages."""
    found = client.get(path, headers=BROWSER)
    assert found.status_code == status, (path, found.text)
    assert found.headers["content-type"] == "text/html; charset=utf-8"
    assert "script-src" not in found.headers["content-security-policy"]
    assert found.headers["content-security-policy"].startswith("default-src 'none'; style-src 'self';")
    content = PageContent(found.text)
    content.check()
    return content
