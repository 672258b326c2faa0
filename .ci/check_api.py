"""Compare the public interface with that of the previous release, .ci/api-baseline.txt; ``--write`` writes the file.

The interface is what docs/versions.md calls public and a program can list: names with their parameters and members,
commands with their options, metrics with their labels. Additions pass, and so do added parameters with a default. What
was removed or changed has to be named, as `` `Replica.snapshot` ``, in a section "Changed", "Deprecated" or "Removed"
of what CHANGELOG.md has unreleased.
"""

from __future__ import annotations

import ast
import enum
import inspect
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import click

from kafka_replica.cli.groups import kafka_replica

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "tests"))

from support.docs.public_names import public_names  # noqa: E402

BASELINE = ROOT / ".ci" / "api-baseline.txt"
_OURS = ("kafka_replica.", "kafka_replica_spark.")
_SIMPLE = (bool, int, float, str, bytes, type(None))
_MARKS = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}


def signature(value: object) -> str:
    """Return the parameters of something that can be called, as Python writes them, with simple defaults."""
    if inspect.isclass(value) and issubclass(value, enum.Enum):
        return ""
    try:
        parameters = inspect.signature(value).parameters.values()  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return "(*args, **kwargs)"
    shown, named_only = [], False
    for each in parameters:
        if each.kind is each.KEYWORD_ONLY and not named_only and "*" not in shown:
            shown.append("*")
        named_only |= each.kind in {each.KEYWORD_ONLY, each.VAR_POSITIONAL}
        default = ""
        if each.default is not each.empty:
            default = f"={each.default!r}" if type(each.default) in _SIMPLE else "=..."
        shown.append(_MARKS.get(each.kind, "") + each.name + default)
    return f"({', '.join(shown)})"


def members(kind: type) -> Iterator[tuple[str, str]]:
    """Yield the public members that a class has from this project, with their form."""
    found: dict[str, str] = {}
    for base in reversed([base for base in kind.__mro__ if base.__module__.startswith(_OURS)]):
        for name in inspect.get_annotations(base):
            found[name] = ""
        for name, value in vars(base).items():
            bare = value.__func__ if isinstance(value, classmethod | staticmethod) else value
            found[name] = signature(bare) if inspect.isroutine(bare) else ""
        if issubclass(base, enum.Enum):
            found |= dict.fromkeys(base.__members__, "")
    yield from ((name, form) for name, form in found.items() if not name.startswith("_"))


def of_packages() -> Iterator[str]:
    """Yield a line for each exported name and each member of a class."""
    for package, name in ((package, name) for package, names in public_names().items() for name in names):
        value = getattr(import_module(package), name)
        yield f"{package} {name}{signature(value) if inspect.isclass(value) or inspect.isroutine(value) else ''}"
        if inspect.isclass(value):
            yield from (f"{package} {name}.{member}{form}" for member, form in members(value))


def of_commands(command: click.Command, name: str) -> Iterator[str]:
    """Yield a line for each command and each of its options and arguments."""
    yield f"command {name}"
    for option in command.params:
        for written in option.opts + option.secondary_opts:
            yield f"command {name} {written}"
    if isinstance(command, click.Group):
        context = click.Context(command)
        for each in command.list_commands(context):
            found = command.get_command(context, each)
            assert found is not None, each
            yield from of_commands(found, f"{name} {each}")


def of_metrics() -> Iterator[str]:
    """Yield a line for each metric of the table in docs/metrics.md, which a test compares with the collectors."""
    page = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
    table = page.partition("<!-- all metrics -->")[2].partition("<!-- /all metrics -->")[0]
    for name, kind, labels in re.findall(r"^\| `(\w+)` \| (\w+) \| (.*?) \|", table, re.MULTILINE):
        yield f"metric {name} {kind} {labels.replace('`', '')}".rstrip()


def interface() -> list[str]:
    """Return the lines of the whole public interface."""
    return sorted({*of_packages(), *of_commands(kafka_replica, "kafka-replica"), *of_metrics()})


def name_of(line: str) -> str:
    """Return what the changelog has to name for a line: a name, a member, a command with its option, or a metric."""
    kind, _, rest = line.partition(" ")
    return rest if kind == "command" else rest.partition("(")[0].partition(" ")[0]


def identity_of(line: str) -> str:
    """Return the part of a line that says what it is about; the rest is its form."""
    if line.startswith("command "):
        return line
    return line.partition("(")[0] if "(" in line else " ".join(line.split(" ")[:2])


def noted(changelog: str) -> set[str]:
    """Return all names in backticks in the sections of unreleased changes and removals."""
    unreleased = changelog.partition("\n## Unreleased\n")[2].partition("\n## ")[0]
    sections = re.findall(
        r"^### (?:Changed|Deprecated|Removed)\n(.*?)(?=^### |\Z)", unreleased, re.MULTILINE | re.DOTALL
    )
    return set(re.findall(r"`([^`]+)`", "\n".join(sections)))


def accepts(now: str, before: str) -> bool:
    """Return whether all calls that one signature allowed are allowed by another, with the same defaults."""
    if now == before or not (now.endswith(")") and before.endswith(")")):
        return now == before
    new, old = (ast.parse(f"lambda {text[text.index('(') + 1 : -1]}: 0", mode="eval").body for text in (now, before))
    assert isinstance(new, ast.Lambda)
    assert isinstance(old, ast.Lambda)
    in_order = zip([*positional(new.args)][: len(positional(old.args))], positional(old.args), strict=False)
    known = positional(new.args) | keyword_only(new.args)
    before_it = positional(old.args) | keyword_only(old.args)
    return (
        len(positional(new.args)) >= len(positional(old.args))
        and all(left == right for left, right in in_order)
        and all(name in known and default in {"", known[name]} for name, default in before_it.items())
        and all(known[name] for name in known.keys() - before_it.keys())
        and stars(old.args) <= stars(new.args)
    )


def positional(arguments: ast.arguments) -> dict[str, str]:
    """Return the names and defaults of the positional parameters."""
    names = [each.arg for each in arguments.posonlyargs + arguments.args]
    defaults = [""] * (len(names) - len(arguments.defaults)) + [ast.unparse(each) for each in arguments.defaults]
    return dict(zip(names, defaults, strict=True))


def keyword_only(arguments: ast.arguments) -> dict[str, str]:
    """Return the names and defaults of the keyword-only parameters."""
    defaults = ["" if each is None else ast.unparse(each) for each in arguments.kw_defaults]
    return dict(zip([each.arg for each in arguments.kwonlyargs], defaults, strict=True))


def stars(arguments: ast.arguments) -> set[str]:
    """Return which of ``*args`` and ``**kwargs`` a signature has."""
    return {mark for mark, each in (("*", arguments.vararg), ("**", arguments.kwarg)) if each is not None}


def missing_notes(before: list[str], now: list[str], changelog: str) -> list[str]:
    """Return a line for each removal and change that the changelog does not name."""
    mentioned, there = noted(changelog), {identity_of(line): line for line in now}
    wrong = []
    for line in before:
        new, name = there.get(identity_of(line)), name_of(line)
        if name not in mentioned and (new is None or (new != line and not accepts(new, line))):
            change = "it was removed" if new is None else f"it is now {new}"
            wrong.append(
                f"{line}: {change}; name `{name}` in CHANGELOG.md, under Changed or Removed of what is unreleased"
            )
    return wrong


def main() -> None:
    """Fail with a line for each removal and change without a note."""
    now = interface()
    if "--write" in sys.argv[1:]:
        BASELINE.write_text("\n".join(now) + "\n", encoding="utf-8")
    before = BASELINE.read_text(encoding="utf-8").splitlines()
    wrong = missing_notes(before, now, (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    if wrong:
        hint = "If the interface was never released in this form: python .ci/check_api.py --write"
        sys.exit("\n".join([*wrong, hint]))
    sys.stdout.write(f"{len(before)} lines of the previous public interface: all there, or noted as changed\n")


if __name__ == "__main__":
    main()
