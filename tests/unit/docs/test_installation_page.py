"""The page about installation describes exactly the extras that exist, and those that the guides need."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from support.paths import ROOT

_PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
_PAGE = (ROOT / "docs" / "installation.md").read_text(encoding="utf-8")
_EXTRAS, _GUIDES = _PAGE.split("What each of the guides needs:")


def test_each_extra_is_described_once() -> None:
    """The table has a row for each extra of pyproject.toml, and no other."""
    cells = re.findall(r"^\| (`.*?) \|", _EXTRAS, re.MULTILINE)
    named = [extra for cell in cells for extra in re.findall(r"`([a-z0-9-]+)`", cell)]
    assert sorted(named) == sorted(_PROJECT["optional-dependencies"])


def test_the_commands_of_installation_are_the_same_in_the_readme() -> None:
    """Pip refuses to install into the Python of most systems, so that both pages begin with an environment."""
    pattern = re.compile(
        r"^ *python3 -m venv (\w+)\n *\. (\w+)/bin/activate\n *pip install \"\.\[all\]\"", re.MULTILINE
    )
    for text in (_PAGE, (ROOT / "README.md").read_text(encoding="utf-8")):
        found = pattern.search(text)
        assert found is not None
        assert found[1] == found[2]
        assert text.index("pip install") >= found.start()


@pytest.mark.parametrize("path", sorted(ROOT.glob("docs/guide-*.md")), ids=lambda path: path.stem)
def test_guides_name_the_extras_that_they_need(path: Path) -> None:
    """Each guide is in the table, with the extras that its own page names, and links to the page."""
    (extras,) = re.findall(rf"\({re.escape(path.name)}\) \| `([a-z0-9,-]+)`", _GUIDES)
    assert set(extras.split(",")) <= set(_PROJECT["optional-dependencies"])
    text = path.read_text(encoding="utf-8")
    assert f"`{extras}`" in text
    assert "(installation.md)" in text
