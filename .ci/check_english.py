"""The mechanical part of plain English: how docstrings begin, and idioms that read like a translation.

``python .ci/check_english.py [FOLDER...]`` prints each finding; the exit status says whether there is one.
"""

import ast
import inspect
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("kafka_replica", "spark", "tests", "benchmarks", ".ci", "docs", "README.md", "CONTRIBUTING.md")

# A first line that opens with one of these is a clause without a noun: "What is read.", "Of the topics."
_BARE = re.compile(
    r"(What|Who|Whom|Whose|Which|Whether|Where|When|How|Why|Of|As|The same|That|It|They|One|None|Some|So|Such|Those|"
    r"Each of|All of it|Not)\b(?! replica| topic| record| line| thread| version)"
)
_IDIOMS = re.compile(
    r"\b(anew|for ever|at hand|let go of|lets go of|is none of|are none of|who is silent|stands for|stand for|taken up|"
    r"take up|takes up|is told of|are told of|be told of|made sure of|make sure of|nobody says|says nothing of|"
    r"is said of|in the place of|of its own accord|the like)\b"
)


def docstrings(path):
    """Yield the line and text of each docstring of a module, those of attributes included."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.lineno, inspect.cleandoc(node.value.value)


def comments(path):
    """Yield the line and text of each comment."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        found = re.search(r"(?:^|\s)# (.*)$", line)
        if found:
            yield number, found[1]


def of_module(path):
    """Yield what is wrong in a module."""
    for number, text in docstrings(path):
        first = text.split("\n", 1)[0]
        if _BARE.match(first):
            yield number, f"a docstring opens with a bare word: {first}"
        for found in _IDIOMS.finditer(text):
            yield number, f"an idiom: {found[0]!r}"
    for number, text in comments(path):
        for found in _IDIOMS.finditer(text):
            yield number, f"an idiom: {found[0]!r}"


def of_page(path):
    """Yield what is wrong in a page of the docs."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        for found in _IDIOMS.finditer(line):
            yield number, f"an idiom: {found[0]!r}"


def main():
    """Print all findings."""
    count = 0
    for name in sys.argv[1:] or FOLDERS:
        place = ROOT / name
        files = [place] if place.is_file() else sorted([*place.rglob("*.py"), *place.rglob("*.md")])
        for path in files:
            for number, text in (of_module if path.suffix == ".py" else of_page)(path):
                count += 1
                print(f"{path.relative_to(ROOT)}:{number}: {text}")
    print(f"English: {count} findings")
    return bool(count)


if __name__ == "__main__":
    sys.exit(main())
