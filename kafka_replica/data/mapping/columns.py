"""The treatment of a frame's columns in mapping."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from kafka_replica.data.mapping.model import SOURCE, MapPlan
from kafka_replica.data.validation.binding import NON_COMPONENT_COLUMNS
from kafka_replica.data.validation.deletions import is_technical
from kafka_replica.data.validation.model import ACTION, ERRORS
from kafka_replica.errors import UsageError


class Columns(NamedTuple):
    """The columns of a frame.

    Attributes:
        all: all columns.
        carried: those that are carried over to the result.
        components: the components of the source.
    """

    all: tuple[str, ...]
    carried: tuple[str, ...]
    components: tuple[str, ...] = ()

    @property
    def unknown(self) -> list[str]:
        """Return the columns that neither the source nor SDMX-CSV defines, except for technical columns."""
        return [name for name in self.carried if name != ACTION and not is_technical(name, self.components)]


def columns_for(plan: MapPlan, names: Sequence[str], several: Sequence[str]) -> Columns:
    """Return the columns of a frame, and those that are carried over to the result.

    Args:
        plan: the compiled map.
        names: all columns.
        several: the columns with several values per row.

    Raises:
        UsageError: the name of a column is reserved, ambiguous, or that of a target component, or a column has several
            values that would have to be mapped.
    """
    taken = [name for name in (ERRORS, SOURCE) if name in names]
    if taken:
        raise UsageError(f"mapping by {plan.artefact}: the frame has a column {taken[0]} already; drop it first")
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise UsageError(f"mapping by {plan.artefact}: more than one column is called {twice[0]}; rename the others")
    mapped = {name for value in plan.values for name in value.sources} | {date.source for date in plan.dates}
    lists = [name for name in several if name in mapped]
    if lists:
        raise UsageError(
            f"mapping by {plan.artefact}: column {lists[0]} has several values in a row, which can only be copied; "
            "make "
            "a row of each value first"
        )
    sources, left_out = set(plan.source.components), NON_COMPONENT_COLUMNS - {ACTION}
    carried = [name for name in names if name not in sources | left_out and not name.startswith("STRUCTURE[")]
    hidden = [name for name in carried if name in plan.targets]
    if hidden:
        raise UsageError(
            f"mapping by {plan.artefact}: column {hidden[0]} is not a component of {plan.source.urn}, but one of the "
            "target; drop it, or rename it"
        )
    return Columns(tuple(names), tuple(carried), tuple(plan.source.components))
