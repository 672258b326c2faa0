"""The rules that every page follows in a browser: contrast in both themes, axe-core's rules, and the keyboard."""

from __future__ import annotations

from typing import Any, Final

from support.server.axe import axe_core
from support.server.browser import CONTRASTS, Browser

TAB: Final = "\ue004"
ENTER: Final = "\ue007"
_STOPS: Final = """
const all = [...document.querySelectorAll('a[href], input, select, button, [tabindex="0"]')];
const one = document.activeElement, style = getComputedStyle(one), box = one.getBoundingClientRect();
return {
  number: all.indexOf(one), count: all.length, element: one.outerHTML.slice(0, 120),
  outline: style.outlineStyle == 'none' ? 0 : parseFloat(style.outlineWidth),
  visible: box.width > 0 && box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth,
};
"""


def check_rules(browser: Browser, path: str) -> None:
    """Check the open page: the contrast of texts in both themes, and axe-core's rules, if it can be had."""
    _check_contrast(browser, path)
    axe = axe_core()
    if axe is None:
        return
    for theme, options in (("light", "{}"), ("dark", "{runOnly: ['color-contrast']}")):  # the others see no colours
        browser.set_theme(theme)
        script = f"{axe if theme == 'light' else ''};\nconst done = arguments[0]; axe.run({options}).then(done, done);"
        result = browser.run_async(script)
        assert len(result["passes"]) >= (10 if theme == "light" else 1), result
        broken = [(one["id"], [node["html"] for node in one["nodes"]][:3]) for one in result["violations"]]
        assert broken == [], (path, theme)


def check_keyboard(browser: Browser, path: str) -> None:
    """Check the open page: Tab reaches every field and link in order, each visibly; the first one skips the head."""
    stops: list[Any] = []
    while True:
        browser.press(TAB)
        stop = browser.run(_STOPS)
        assert stop["number"] == len(stops), (path, stop)
        assert stop["visible"], (path, stop)
        assert stop["outline"] >= 2, (path, stop)
        stops.append(stop["element"])
        if len(stops) == stop["count"]:
            break
    assert 'class="skip"' in stops[0]
    browser.run("document.querySelector('.skip').focus()")
    browser.press(ENTER)
    assert browser.run("return document.activeElement.id") == "main", path
    browser.press(TAB)
    after = browser.run(_STOPS)
    assert after["number"] > 1, (path, after)
    assert browser.run("return document.querySelector('main').contains(document.activeElement)"), path


def _check_contrast(browser: Browser, path: str) -> None:
    for theme in ("light", "dark"):
        browser.set_theme(theme)
        found = browser.run(CONTRASTS)
        assert found
        assert [one for one in found if one[0] < 4.5] == [], (path, theme)
