"""Random maps and data, and the result of a row in plain Python, which tries the map's rows one after the other."""

from __future__ import annotations

import random
import re
from datetime import date
from typing import Any, NamedTuple

from support.mapping.maps_by_hand import component_map, named, representation_map, structure_map

LETTERS = "ABC"
PERIODS = ["1999", "2000-Q1", "2000-06", "2001-02-28", "2002-W10", "2003-A1", "2004-S2", None, "never"]
_STARTS = {"1999": date(1999, 1, 1), "2000-Q1": date(2000, 1, 1), "2000-06": date(2000, 6, 1),
           "2001-02-28": date(2001, 2, 28), "2002-W10": date(2002, 3, 4), "2003-A1": date(2003, 1, 1),
           "2004-S2": date(2004, 7, 1)}  # fmt: skip
_EXPRESSIONS = ["A.*", "[AB]+", "(.)(.*)", "(A|B)?(C*)", ".*C", "^B", "A{2}|BC", "(?:A|B)(C)?", "C$"]


class Rule(NamedTuple):
    """A row of a representation map."""

    sources: list[tuple[str, Any]]
    targets: list[str]
    valid_from: date | None
    valid_to: date | None


class Made(NamedTuple):
    """A map as structures, and its rules."""

    contents: tuple[str, ...]
    rules: list[Rule]
    n_sources: int


def made_map(source: random.Random) -> Made:
    """Draw maps of one or two sources to a dimension and an attribute: values, substrings, expressions, validity."""
    n_sources = source.choice([1, 2])
    rules = [_rule(source, n_sources) for _ in range(source.randrange(1, 14))]
    names = " ".join(f"S{number}" for number in range(n_sources))
    contents = (
        named("S", f"{names} N"), named("G", "N B", attributes="C"),
        representation_map("R", *map(_written, rules), sources=n_sources, targets=2),
        structure_map(component_map(names, "B C", "R")),
    )  # fmt: skip
    return Made(contents, rules, n_sources)


def made_rows(source: random.Random, n_sources: int, n: int) -> list[dict[str, str | None]]:
    """Draw rows whose values match some rules."""
    rows = []
    for number in range(n):
        row: dict[str, str | None] = {f"S{place}": _word(source) for place in range(n_sources)}
        rows.append({**row, "N": str(number), "TIME_PERIOD": source.choice(PERIODS)})
    return rows


def _word(source: random.Random) -> str | None:
    return None if source.random() < 0.05 else "".join(source.choices(LETTERS, k=source.randrange(4)))


def _rule(source: random.Random, n_sources: int) -> Rule:
    kinds = source.choices(["plain", "plain", "regex", "slice"], k=n_sources)
    sources: list[tuple[str, Any]] = []
    groups = 0
    for kind in kinds:
        word = "".join(source.choices(LETTERS, k=source.randrange(1, 4)))
        if kind == "regex":
            expression = source.choice(_EXPRESSIONS)
            groups += re.compile(expression).groups
            sources.append(("regex", expression))
        elif kind == "slice":
            start = source.randrange(3)
            sources.append(("slice", (start, start + len(word[:2]), word[:2])))
        else:
            sources.append(("plain", word))
    end = f"-\\{source.randrange(groups + 1)}" if "regex" in kinds and source.random() < 0.7 else ""
    targets = [f"T{source.randrange(6)}{end}", *(["c"] if source.random() < 0.3 else [])]
    start_ = date(source.choice([1999, 2000, 2002]), source.choice([1, 6]), 1) if source.random() < 0.3 else None
    stop = date(source.choice([2000, 2002, 2003]), 12, 31) if source.random() < 0.3 else None
    return Rule(sources, targets if source.random() < 0.95 else [], start_, stop)


def _written(rule: Rule) -> str:
    parts = [
        f"/{value}/" if kind == "regex" else f"{value[0]}:{value[1]}={value[2]}" if kind == "slice" else value
        for kind, value in rule.sources
    ]
    dates = f"@{rule.valid_from or ''}/{rule.valid_to or ''}" if rule.valid_from or rule.valid_to else ""
    return f"{','.join(parts)}>{','.join(rule.targets)}{dates}"


def wanted(made: Made, row: dict[str, str | None]) -> list[str]:
    """Return the outcomes of a row as ``B C``, or the code of the error."""
    values = [row[f"S{place}"] for place in range(made.n_sources)]
    at = _STARTS.get(row["TIME_PERIOD"] or "")
    plain = [rule for rule in made.rules if all(kind == "plain" for kind, _ in rule.sources)]
    hits = [rule for rule in plain if _match(rule, values) is not None and _holds(rule, at)]
    hits = [rule for rule in hits if rule.valid_from or rule.valid_to] or hits
    if not hits:
        rest = (rule for rule in made.rules if rule not in plain)
        hits = [rule for rule in rest if _match(rule, values) is not None and _holds(rule, at)][:1]
    if not hits:
        return ["unmapped-value" if any(value is not None for value in values) else "no-output"]
    outcomes = list(dict.fromkeys(_outcome(rule, values) for rule in hits))
    if len({b for b, _ in outcomes}) < len(outcomes):
        return ["ambiguous-value"]
    return sorted("no-output" if b is None else f"{b} {c}" for b, c in outcomes)


def _holds(rule: Rule, at: date | None) -> bool:
    if at is None:
        return rule.valid_from is None and rule.valid_to is None
    return (rule.valid_from is None or rule.valid_from <= at) and (rule.valid_to is None or at <= rule.valid_to)


def _match(rule: Rule, values: list[str | None]) -> list[str] | None:
    """Return the captures of groups, first the whole of the first expression; None if it does not match."""
    groups: list[str] = []
    for (kind, what), value in zip(rule.sources, values, strict=True):
        if value is None:
            return None
        if kind == "plain" and value != what:
            return None
        if kind == "slice" and value[what[0] : what[1]] != what[2]:
            return None
        if kind == "regex":
            begins, ends = what.startswith("^"), what.endswith("$")
            bare = what.strip("^$")
            found = re.fullmatch(f"(?:{bare}).*" if begins else f".*(?:{bare})" if ends else bare, value)
            if found is None:
                return None
            groups += [*([value] if not groups else []), *(group or "" for group in found.groups())]
    return groups


def _outcome(rule: Rule, values: list[str | None]) -> tuple[str | None, str | None]:
    groups = _match(rule, values) or []
    texts = [re.sub(r"\\([0-9])", lambda found: groups[int(found[1])], text) for text in rule.targets]
    padded: list[str | None] = [*texts, None, None]
    return padded[0], padded[1]
