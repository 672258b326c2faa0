"""The check of the project's English (.ci/check_english.py) finds idioms, and nothing in plain text."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from support.paths import ROOT


@pytest.fixture
def check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return the check, as a module whose project is an empty folder."""
    spec = importlib.util.spec_from_file_location("check_english", ROOT / ".ci" / "check_english.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "ROOT", tmp_path)
    (tmp_path / "kafka_replica").mkdir()
    return module


def findings(check: ModuleType, source: str) -> list[str]:
    """Return what the check finds in a module of the package."""
    path = check.ROOT / "kafka_replica" / "module.py"
    path.write_text(source)
    return [text for _, text in check.of_module(path)]


@pytest.mark.parametrize("phrase", [
    "goes on", "go on", "beside", "besides", "as ever", "nobody", "somebody", "told apart", "tells the two apart",
    "knows no", "knows nothing", "anew", "in vain", "is no value", "are no values",
])  # fmt: skip
def test_idioms_are_found_in_docstrings_comments_and_pages(check: ModuleType, phrase: str) -> None:
    """An idiom is found in a docstring, also a private one, in a comment, and on a page of the docs."""
    expected = [f"an idiom: {phrase!r}"]
    assert findings(check, f'def _read():\n    """Return a value that {phrase} it."""\n') == expected
    assert findings(check, f"# a value that {phrase} it\n") == expected
    assert findings(check, f"# {phrase.capitalize()} it.\n") == [f"an idiom: {phrase.capitalize()!r}"]
    page = check.ROOT / "page.md"
    page.write_text(f"A value that {phrase} it.\n")
    assert [text for _, text in check.of_page(page)] == expected


@pytest.mark.parametrize("line", ["What is read.", "Of the topics.", "Whether it is open."])
def test_a_docstring_that_opens_with_a_bare_word_is_found(check: ModuleType, line: str) -> None:
    """The first line is an imperative or a noun phrase, in private functions, too."""
    assert findings(check, f'def _read():\n    """{line}"""\n') == [f"a docstring opens with a bare word: {line}"]


def test_plain_text_has_no_findings(check: ModuleType) -> None:
    """Words that only look like an idiom, and names in code, are accepted."""
    source = (
        '"""Return the body of the answer; everything is included, and there is no limit."""\n\n'
        "# the reader continues; the caller knows the position and tells nothing\n"
        "nobody = 1\n"
    )
    assert findings(check, source) == []
