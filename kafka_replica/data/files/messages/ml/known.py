"""The components of a message's structure, as far as the caller's rules provide them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from kafka_replica.data.files.references import belongs_to, urn_of
from kafka_replica.data.validation.model import Rules
from kafka_replica.sdmx import Urn

TIME_PERIOD: Final = "TIME_PERIOD"
OBS_VALUE: Final = "OBS_VALUE"


@dataclass(frozen=True, slots=True)
class KnownComponents:
    """The components of a structure.

    Attributes:
        dimensions: the dimensions; None if the structure is unknown.
        time: the time dimension.
        measures: the measures.
    """

    dimensions: frozenset[str] | None = None
    time: str = TIME_PERIOD
    measures: tuple[str, ...] = (OBS_VALUE,)

    @property
    def primary_measure(self) -> str:
        """Return the measure that applies where a message does not name it."""
        return self.measures[0] if OBS_VALUE not in self.measures and len(self.measures) == 1 else OBS_VALUE


UNKNOWN: Final = KnownComponents()


@dataclass(frozen=True, slots=True)
class Structures:
    """The structure that the caller expects."""

    rules: Rules | None = None
    usages: Collection[Urn] = ()

    def known(self, kind: str | None, reference: str | None) -> KnownComponents:
        """Return the components of a data set.

        Args:
            kind: the kind of the structure that the data set names; None if it names none.
            reference: the reference of that structure; None if it names none.

        Raises:
            DatasetError: the reference is invalid.
        """
        if self.rules is None:
            return UNKNOWN
        if reference is not None and not belongs_to(urn_of(kind, reference), self.rules, self.usages):
            return UNKNOWN
        columns = self.rules.columns
        return KnownComponents(
            frozenset(one.id for one in columns if one.kind == "dimension"),
            next((one.id for one in columns if one.is_time), TIME_PERIOD),
            tuple(one.id for one in columns if one.kind == "measure"),
        )
