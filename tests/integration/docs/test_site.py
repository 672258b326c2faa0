"""The documentation site as it is read from the file system: search, and both themes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pytest

from support.paths import ROOT
from support.server.browser import Browser, browsing
from support.waiting import wait_until

SITE: Final = ROOT / "build" / "site"
RESULTS: Final = "return [...document.querySelectorAll('#search-results li a')].map(one => one.getAttribute('href'))"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A browser, if the site was built."""
    if not (SITE / "index.html").exists():
        pytest.skip("NOT TESTED: the site is not built; run make docs")
    with browsing(tmp_path_factory.mktemp("browser")) as found:
        yield found


@pytest.mark.long
def test_the_search_works_without_a_server(browser: Browser) -> None:
    """A word is found on its pages, and a result leads to a page that exists."""
    browser.open(f"{(SITE / 'search.html').as_uri()}?q=tombstone")
    wait_until(lambda: any(one.startswith("stores.html") for one in browser.run(RESULTS)))  # they come one by one
    results = browser.run(RESULTS)
    assert len(results) > 5
    assert all((SITE / result.partition("#")[0].partition("?")[0]).exists() for result in results)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_first_page_follows_the_theme(browser: Browser, theme: str) -> None:
    """The background is that of the theme, the picture is loaded, and no page is wider than the window."""
    browser.set_theme(theme)
    browser.open((SITE / "index.html").as_uri())
    wait_until(lambda: browser.run("return [...document.images].every(one => one.complete && one.naturalWidth > 0)"))
    background = browser.run("return getComputedStyle(document.body).backgroundColor")
    assert background == {"light": "rgb(255, 255, 255)", "dark": "rgb(19, 20, 22)"}[theme]
    for name in ("index", "configuration", "guide-operator"):
        browser.open((SITE / f"{name}.html").as_uri())
        assert browser.run("return document.documentElement.scrollWidth <= window.innerWidth"), name
