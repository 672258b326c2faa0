"""Generate data that satisfies rules: rows without any findings, for tests, benchmarks and demonstrations."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Final

from kafka_replica.data.validation.binding import bind_rules
from kafka_replica.data.validation.conditions import And, ComponentText, Concat, Condition, In, Not, Or
from kafka_replica.data.validation.evaluation import evaluate_condition
from kafka_replica.data.validation.frequency import WRITTEN as BY_FREQUENCY
from kafka_replica.data.validation.model import Column, Rules
from kafka_replica.errors import UsageError

_TRIES: Final = 300
_POOL: Final = 5000
_OF_SEVERAL: Final = frozenset({"region-not-allowed", "key-not-allowed", "value-not-valid", "frequency"})


def generate_rows(rules: Rules, n: int, seed: int = 0, *, optional: float = 0.7) -> list[dict[str, str | None]]:
    """Return rows of texts that satisfy all rules, each with a unique key; the same seed gives the same rows.

    Attributes above the observation are equal in all rows of their series, group or data set.

    Args:
        rules: the rules to satisfy; patterns that Python cannot read may be violated, and each component has one value
            even where several are demanded.
        n: the number of rows.
        seed: the seed of the random numbers.
        optional: the proportion of optional values that are present, from 0 to 1.

    Raises:
        UsageError: not enough rows were found; the rules may not allow that many.
    """
    return _RowGenerator(rules, random.Random(seed), optional).rows(n)  # noqa: S311 - no secrets


class _RowGenerator:
    def __init__(self, rules: Rules, source: random.Random, optional: float) -> None:
        self._rules, self._source, self._optional = rules, source, optional
        bound = bind_rules(rules, [column.id for column in rules.columns], {})
        self._checks = [check for check in bound.checks if check.rule != "occurrences"]
        # Checks of a single component are satisfied by the choice of its values.
        self._joint = [check for check in self._checks if len(check.looks_at) != 1]
        self._required = [column.id for column in rules.columns if column.is_required]
        self._pools = {column.id: self._pool(column) for column in rules.columns}
        self._time = next((column for column in rules.columns if column.is_time), None)
        self._above: dict[tuple[str, tuple[str | None, ...]], str | None] = {}
        self._levels = {check.component: check.level for check in rules.levels}
        self._wide = [check for check in self._checks if check.rule in _OF_SEVERAL and check.rule != "frequency"]
        self._periods: dict[str, list[str]] = {}

    def rows(self, n: int) -> list[dict[str, str | None]]:
        made: list[dict[str, str | None]] = []
        keys: set[tuple[str | None, ...]] = set()
        names = [column.id for column in self._rules.columns if column.kind == "dimension"]
        failures = 0
        while len(made) < n:
            for row in self._series():
                key = tuple(row[name] for name in names)
                if key in keys or not self._fits(row):
                    failures += 1
                    continue
                keys.add(key)
                made.append(row)
                failures = 0
                if len(made) == n:
                    break
            failures += 1
            if failures > _TRIES:
                raise UsageError(
                    f"making {n} rows that fit {self._rules.artefact}: after {len(made)} rows no more were found in "
                    f"{_TRIES} tries; request fewer"
                )
        return made

    def _series(self) -> Iterator[dict[str, str | None]]:
        """Yield some rows of one series."""
        base = {each.id: self._value(each) for each in self._rules.columns if each.kind == "dimension"}
        for check in self._wide:
            if self._source.random() < 0.95:
                self._satisfy(check.broken, base, wanted=False)
        time = self._time
        periods: list[str | None] = [None]
        if time is not None:
            fitting = self._periods_of(base)
            periods = list(self._source.sample(fitting, min(len(fitting), 20)))
        for period in periods:
            row = dict(base)
            if time is not None:
                row[time.id] = period
            for column in self._rules.columns:
                if column.kind != "dimension":
                    row[column.id] = self._leveled(column, row)
            yield {column.id: row[column.id] for column in self._rules.columns}

    def _periods_of(self, row: dict[str, str | None]) -> list[str]:
        time = self._time
        assert time is not None  # noqa: S101 - for mypy
        freq = row.get(self._rules.frequency or "") or ""
        if freq not in self._periods:
            by_letter = BY_FREQUENCY.get(freq[:1])
            check = next((each for each in self._checks if each.rule == "frequency"), None)
            pool = self._pools[time.id]
            if by_letter is not None and check is not None:
                pool = [one for one in pool if evaluate_condition(check.broken, {**row, time.id: one}) is not True]
            self._periods[freq] = pool
        return self._periods[freq]

    def _leveled(self, column: Column, row: dict[str, str | None]) -> str | None:
        level = self._levels.get(column.id)
        if level is None:
            return self._value(column)
        at = column.id, tuple(row[name] for name in level)
        if at not in self._above:
            self._above[at] = self._value(column)
        return self._above[at]

    def _value(self, column: Column) -> str | None:
        pool = self._pools[column.id]
        if not pool or not (column.must_exist or self._source.random() < self._optional):
            return None
        return self._source.choice(pool)

    def _pool(self, column: Column) -> list[str]:
        """Return values that violate none of the checks that read only this component."""
        found = sorted(column.values) if column.enumeration is not None else list(column.examples)
        if len(found) > _POOL:
            found = self._source.sample(found, _POOL)
        alone = [check for check in self._checks if check.looks_at == {column.id}]
        return [one for one in found if not any(evaluate_condition(check.broken, {column.id: one}) for check in alone)]

    def _fits(self, row: dict[str, str | None]) -> bool:
        if any(row[id_] is None for id_ in self._required):
            return False
        return not any(evaluate_condition(check.broken, row) for check in self._joint)

    def _satisfy(self, condition: Condition, row: dict[str, str | None], *, wanted: bool) -> None:
        """Set values of a row so that a condition may have the wanted result."""
        match condition:
            case Not(inner):
                self._satisfy(inner, row, wanted=not wanted)
            case And(parts) | Or(parts):
                if isinstance(condition, And) is wanted:
                    for part in parts:
                        self._satisfy(part, row, wanted=wanted)
                else:
                    self._satisfy(self._source.choice(parts), row, wanted=wanted)
            case In(ComponentText(component), values) if wanted and component in row and values:
                row[component] = self._source.choice(sorted(values))
            case In(Concat(components, separator), values) if wanted and values:
                row.update(zip(components, self._source.choice(sorted(values)).split(separator), strict=True))
            case _:
                pass
