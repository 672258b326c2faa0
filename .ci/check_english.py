"""The mechanical part of plain English: how docstrings begin, what tests are called, and translated idioms.

Idioms are searched in docstrings and comments, and, of the package, in the texts of errors, log lines and options.

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
    r"is said of|in the place of|of its own accord|the like|go on|goes on|going on|went on|besides?|as ever|"
    r"(?:any|every|no|some)body|told apart|tells? (?:\w+ ){1,4}apart|knows? (?:no|nothing)|in vain|"
    r"(?<!here\s)(?:is|are|was|were) no (?!(?:longer|more|faster|need|reason|secret)\b)\w+)\b",
    re.IGNORECASE,
)

# Idioms of errors, log lines and help texts, in addition to those above.
_IN_TEXTS = re.compile(
    r"\bmend(?:ed)?\b|\bby itself\b|\b(?:goes|go) on\b|"
    r"\b(?:comes|stands|is there) twice\b|\bis there already\b|\bnobody foresaw\b|\bwhat was\b|\bwhat it holds\b|"
    r"\bwhat answers\b|\bhave (?:it|the \w+|these) (?:published|mended|corrected)\b|"
    r"\b(?:[Kk]afka|database|PostgreSQL) says\b|\bsay --|\btaken in\b|\bcut off\b|\bfor it has\b|\btells?\b|\btold\b|"
    r"\bis meant\b|\bmade again\b"
)
_TEXT_CALLS = {"debug", "info", "warning", "error", "exception", "critical", "fail", "wrong", "refused", "failed"}
_TEXT_ARGUMENTS = {"help", "short_help", "epilog", "prompt"}

# The name of a test states condition and result: "a_lagging_reader_never_sees_half_a_transaction".
_BARE_TEST = re.compile(r"test_(what|who|whom|whose|which|whether|where|when|how|why|of|as|that|it|they|so|such)(_|$)")
_TEST_IDIOMS = re.compile(r"_(told|tells|says|said|who|whom|anew|mended|gone_on)(_|$)")


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


def texts(path):
    """Yield the line and text of each literal in an error, a log line or the declaration of an option."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Raise) and node.exc:
            yield from _literals(node.exc)
        elif isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in _TEXT_CALLS or name.endswith("Error"):
                yield from _literals(node)
            for keyword in node.keywords:
                if keyword.arg in _TEXT_ARGUMENTS:
                    yield from _literals(keyword.value)


def _literals(node):
    """Yield the line and text of each literal; the parts of an f-string are joined."""
    if isinstance(node, ast.JoinedStr):
        parts = (part.value if isinstance(part, ast.Constant) else "X" for part in node.values)
        yield node.lineno, "".join(map(str, parts))
        return
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.lineno, node.value
    for child in ast.iter_child_nodes(node):
        yield from _literals(child)


def test_names(path):
    """Yield the line and name of each test."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            yield node.lineno, node.name


def of_module(path):
    """Yield what is wrong in a module."""
    if path.relative_to(ROOT).parts[0] in ("kafka_replica", "spark"):
        yield from _of_texts(path)
    yield from _of_tests(path)
    for number, text in docstrings(path):
        first = text.split("\n", 1)[0]
        if _BARE.match(first):
            yield number, f"a docstring opens with a bare word: {first}"
    for number, text in [*docstrings(path), *comments(path)]:
        for found in _IDIOMS.finditer(text):
            yield number, f"an idiom: {found[0]!r}"


def _of_texts(path):
    for number, text in sorted(set(texts(path))):
        for found in [*_IDIOMS.finditer(text), *_IN_TEXTS.finditer(text)]:
            yield number, f"an idiom in a text: {found[0]!r}"


def _of_tests(path):
    for number, name in test_names(path):
        if _BARE_TEST.match(name):
            yield number, f"a test's name opens with a bare word: {name}"
        for found in _TEST_IDIOMS.finditer(name):
            yield number, f"an idiom in a test's name: {found[0].strip('_')!r}"


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
