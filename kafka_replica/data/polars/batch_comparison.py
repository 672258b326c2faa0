"""Compare rows of different batches: first by hashes of their keys, then the few candidates by the keys themselves.

The first pass keeps 8 bytes for each row and check of keys, and for each group of rows (such as a series) 16 bytes and
the extreme values of its attributes. Equal keys have equal hashes, so no violation is missed. Rows with equal hashes
are compared by their keys in a second pass, so there are no false findings. A third pass writes the rows with their
findings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from itertools import groupby
from operator import add
from typing import Final, TypeAlias

import polars as pl

from kafka_replica.data.polars.cross_row import (
    Comparison,
    Hit,
    comparable_rows,
    duplicate_rows,
    rows_in_groups,
    value_of,
    with_keys,
    wrong_groups,
)
from kafka_replica.data.polars.prepared_frame import ROW, PreparedFrame
from kafka_replica.data.validation.binding import BoundRules
from kafka_replica.data.validation.conditions import components_of
from kafka_replica.data.validation.model import KeyCheck, LevelCheck

_HASH: Final = "__hash"
_OTHER: Final = "__hash_2"
_SEEDS: Final = (0x5EED, 0xC0FFEE)


def key_hash(names: Sequence[str], seed: int = _SEEDS[0]) -> pl.Expr:
    """Return a 64-bit hash of the values of columns, in which NULL is a value like any other."""
    # Adding one hash per column (modulo 2 ** 64) takes half the time of hashing a struct.
    return reduce(add, (pl.col(name).hash(seed + place) for place, name in enumerate(names))).alias(_HASH)


class Hashes:
    """The hashes of the keys of many rows, for one check."""

    def __init__(self) -> None:
        """Create an empty collection."""
        self._parts: list[pl.Series] = []

    def add(self, hashes: pl.Series) -> None:
        """Add the hashes of some rows."""
        self._parts.append(hashes)

    def repeated(self) -> pl.Series:
        """Return the hashes that more than one row has, and discard all hashes."""
        if not self._parts:
            return pl.Series(_HASH, [], dtype=pl.UInt64)
        ordered = pl.concat(self._parts, rechunk=True).sort()
        self._parts = []
        return ordered.filter((ordered == ordered.shift(1)).fill_null(value=False)).unique()


class _LevelGroups:
    """The groups of a level, with the values of the attributes that its checks compare."""

    def __init__(self, level: tuple[str, ...], checks: Sequence[LevelCheck]) -> None:
        self.level, self.checks = level, checks
        self._known: pl.DataFrame | None = None
        self._new: list[pl.DataFrame] = []

    def add(self, counted: pl.DataFrame) -> None:
        """Add the rows of a batch."""
        keyed = counted.select(
            key_hash(self.level), key_hash(self.level, _SEEDS[1]).alias(_OTHER),
            *(pl.col(check.component).alias(f"{end}{number}")
              for number, check in enumerate(self.checks) for end in ("least", "most")),
        )  # fmt: skip
        self._new.append(self._merged(keyed))
        if self._known is None or sum(one.height for one in self._new) > self._known.height:
            self._merge()

    def _merge(self) -> None:
        known = [] if self._known is None else [self._known]
        if known or self._new:
            self._known = self._merged(pl.concat([*known, *self._new], rechunk=True))
        self._new = []

    def _merged(self, keyed: pl.DataFrame) -> pl.DataFrame:
        return keyed.group_by(_HASH, _OTHER).agg(
            *(pl.col(f"least{number}").min() for number in range(len(self.checks))),
            *(pl.col(f"most{number}").max() for number in range(len(self.checks))),
        )

    def wrong(self) -> dict[int, pl.DataFrame]:
        """Return the hashes of the groups that may violate a check, by the number of the check; discard all groups."""
        self._merge()
        found: dict[int, pl.DataFrame] = {}
        for number, check in enumerate(self.checks):
            least, most = pl.col(f"least{number}"), pl.col(f"most{number}")
            is_wrong = least.is_null() if check.demand == "given" else least != most
            groups = pl.DataFrame() if self._known is None else self._known.filter(is_wrong).select(_HASH, _OTHER)
            if groups.height:
                found[number] = groups
        self._known = None
        return found


Flagged: TypeAlias = Mapping[int, pl.Series]
"""The numbers of the rows that violate a check, by the number of the check: checks of keys first, then of levels."""


class BatchComparison:
    """The comparison of the rows of a job, in a first and a second pass."""

    def __init__(self, bound: BoundRules) -> None:
        """Prepare the comparison by the rules that are bound to the columns."""
        self._bound = bound
        self._keys = [Hashes() for _ in bound.keys]
        self._levels = [
            _LevelGroups(level, list(same)) for level, same in groupby(bound.levels, key=lambda one: one.level)
        ]
        self._candidates: dict[int, pl.Series | pl.DataFrame] = {}
        self._kept: dict[int, list[pl.DataFrame]] = {}

    def add(self, rows: PreparedFrame) -> None:
        """Add the rows of a batch in the first pass."""
        if not (self._keys or self._levels):
            return
        counted = comparable_rows(rows)
        for check, hashes in zip(self._bound.keys, self._keys, strict=True):
            hashes.add(with_keys(counted, check, rows).select(key_hash(check.components)).to_series())
        for groups in self._levels:
            groups.add(counted)

    def has_candidates(self) -> bool:
        """Return, after the first pass, whether any rows may violate a check."""
        for number, hashes in enumerate(self._keys):
            repeated = hashes.repeated()
            if len(repeated):
                self._candidates[number] = repeated
        begin = len(self._keys)
        for groups in self._levels:
            self._candidates |= {begin + number: wrong for number, wrong in groups.wrong().items()}
            begin += len(groups.checks)
        return bool(self._candidates)

    def keep(self, rows: PreparedFrame, first: int) -> None:
        """Keep the candidates of a batch in the second pass.

        Args:
            rows: the batch.
            first: the number of its first row among the rows of the job.
        """
        counted = comparable_rows(rows).with_columns(pl.col(ROW) + first)
        for number, candidates in self._candidates.items():
            names, check = self._names(number)
            if isinstance(candidates, pl.Series):
                compared = with_keys(counted, check, rows) if isinstance(check, KeyCheck) else counted
                mine = compared.filter(key_hash(names).is_in(candidates.implode()))
                self._kept.setdefault(number, []).append(mine.select(ROW, *names))
                continue
            needed = {check.component, *components_of(check.flagged)} if isinstance(check, LevelCheck) else set()
            columns = [ROW, *names, *(column for column in counted.columns if column in needed - {*names})]
            hashed = counted.with_columns(key_hash(names), key_hash(names, _SEEDS[1]).alias(_OTHER))
            found = hashed.join(candidates, on=[_HASH, _OTHER], how="semi", maintain_order="left")
            self._kept.setdefault(number, []).append(found.select(columns))

    def _names(self, number: int) -> tuple[tuple[str, ...], Comparison]:
        if number < len(self._bound.keys):
            return self._bound.keys[number].components, self._bound.keys[number]
        check = self._bound.levels[number - len(self._bound.keys)]
        return check.level, check

    def flagged(self, rows: PreparedFrame) -> Flagged:
        """Return, after the second pass, the rows that violate checks.

        Args:
            rows: the rows of any batch, for the expressions over its columns.
        """
        found: dict[int, pl.Series] = {}
        for number in sorted(self._kept):
            kept = pl.concat(self._kept.pop(number), rechunk=True)
            names, check = self._names(number)
            if isinstance(check, LevelCheck):
                (wrong,) = wrong_groups(kept, check.level, [check])
                hit = rows_in_groups(kept, check, wrong, rows)
            else:
                hit = duplicate_rows(kept, names)
            if hit.height:
                found[number] = hit[ROW]
        return found


def hits_among(rows: PreparedFrame, first: int, flagged: Flagged) -> Iterator[Hit]:
    """Yield each check with the rows of a batch that violate it, as :func:`flagged_rows` does for a whole frame.

    Args:
        rows: the batch.
        first: the number of its first row among the rows of the job.
        flagged: the result of the comparison.
    """
    checks: list[Comparison] = [*rows.bound.keys, *rows.bound.levels]
    compared = rows.to_compare()
    for number, all_rows in flagged.items():
        begin, end = (int(all_rows.search_sorted(at, "left")) for at in (first, first + compared.height))
        if begin < end:
            hit = compared[all_rows[begin:end] - first]
            yield checks[number], hit, value_of(checks[number], rows)
