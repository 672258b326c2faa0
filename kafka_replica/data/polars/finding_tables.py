"""The findings in the rows of a frame, and counts and samples of the findings of many frames."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final

import polars as pl

from kafka_replica.data.validation.finding_columns import FINDING_COLUMNS, LOCATION, TIME
from kafka_replica.data.validation.model import ERRORS, FIELDS
from kafka_replica.data.validation.report_building import KINDS, ORDER, SERIES

LOCATION_TYPES: Final[dict[str, Any]] = dict(
    zip(LOCATION, (pl.String, pl.UInt32, pl.UInt32, pl.String, pl.UInt32, pl.String), strict=True)
)
"""The columns of locations, with their types."""
_ALIKE: Final = [SERIES, *FIELDS]


class RowFindings:
    """The findings in a frame with the columns ``SERIES`` and ``ERRORS``.

    The frame may also have the columns ``TIME`` and those of ``LOCATION``. It may lack rows without findings.

    Attributes:
        rows: the number of rows, including those without findings.
        bad_rows: the number of rows with findings.
    """

    def __init__(self, frame: pl.DataFrame, rows: int | None = None) -> None:
        """Extract the findings.

        Args:
            frame: the frame.
            rows: the total number of rows, if the frame lacks rows without findings.
        """
        self.rows: Final = frame.height if rows is None else rows
        self.bad_rows: Final = frame.height - frame[ERRORS].null_count()
        self._long = frame.drop_nulls(ERRORS).explode(ERRORS).unnest(ERRORS)
        self._located = [name for name in LOCATION if name in frame.columns]

    def table(self) -> pl.DataFrame:
        """Return all findings, one per row, in the order of the frame's rows."""
        types = LOCATION_TYPES | {TIME: pl.String}
        return self._long.select(
            (pl.col(name) if name in self._long.columns else pl.lit(None, types[name])).alias(name)
            for name in FINDING_COLUMNS
        )

    def counts(self) -> Mapping[tuple[str, str | None, str], int]:
        """Return the number of findings by rule, component and severity."""
        rows = self._long.group_by(KINDS).len().iter_rows()
        return {(rule, component, severity): count for rule, component, severity, count in rows}

    def by_series(self) -> pl.DataFrame:
        """Return the number of findings by series, in the column ``len``, without rows whose series is unknown."""
        return self._long.drop_nulls(SERIES).group_by(SERIES).len()

    def firsts(self, most: int) -> pl.DataFrame:
        """Return the first ``most`` distinct findings of each kind, with the location of the first row of each."""
        if not self._located:
            return _first_of_each(self._long.unique(_ALIKE).select(_ALIKE), most)
        return _first_of_each(self._long.group_by(_ALIKE).agg(pl.col(self._located).first()), most)


def _first_of_each(findings: pl.DataFrame, most: int) -> pl.DataFrame:
    return findings.sort(ORDER).group_by(KINDS, maintain_order=True).head(most)


class FindingCounts:
    """Counts and samples of the findings of many frames; see :class:`report_building.FindingTable`."""

    def __init__(self, samples: int = 5) -> None:
        """Create an empty collection that keeps up to ``samples`` findings of each kind."""
        self._most = samples
        self._rows = self._bad_rows = 0
        self._counts: Counter[tuple[str, str | None, str]] = Counter()
        self._series: list[pl.DataFrame] = []
        self._samples: pl.DataFrame | None = None

    def add(self, found: RowFindings) -> None:
        """Add the findings of the next frame."""
        self._rows += found.rows
        self._bad_rows += found.bad_rows
        if not found.bad_rows:
            return
        self._counts.update(found.counts())
        self._series.append(found.by_series())
        if sum(one.height for one in self._series[1:]) > self._series[0].height:
            self._series = [self._all_series()]
        new = found.firsts(self._most)
        if self._samples is None:
            self._samples = new
            return
        both = pl.concat([self._samples, new.select(self._samples.columns)])
        located = [name for name in both.columns if name not in _ALIKE]
        unique = both.group_by(_ALIKE, maintain_order=True).agg(pl.col(located).first()) if located else both.unique()
        self._samples = _first_of_each(unique, self._most)

    def _all_series(self) -> pl.DataFrame:
        return pl.concat(self._series).group_by(SERIES).agg(pl.col("len").sum())

    def totals(self) -> tuple[int, int]:
        """Return the number of rows, and the number of rows with findings."""
        return self._rows, self._bad_rows

    def counts(self) -> Iterable[tuple[str, str | None, str, int]]:
        """Return the rule, component, severity and number of findings of each kind."""
        return [(*kind, count) for kind, count in self._counts.items()]

    def worst_series(self, most: int) -> Iterable[tuple[str, int]]:
        """Return the ``most`` series with the most findings and their numbers of findings; ties are sorted by name."""
        if not self._series:
            return []
        return self._all_series().sort(["len", SERIES], descending=[True, False]).head(most).iter_rows()

    def samples(self, most: int) -> Iterable[tuple[Any, ...]]:
        """Return the first ``most`` distinct findings of each kind, with the location of the first row of each."""
        if self._samples is None:
            return []
        columns = self._samples.columns
        located = [pl.col(name) if name in columns else pl.lit(None).alias(name) for name in LOCATION]
        has_locations = any(name in columns for name in LOCATION)
        first = self._samples.group_by(KINDS, maintain_order=True).head(most)
        return first.select(*_ALIKE, *(located if has_locations else [])).iter_rows()
