"""Maps turned round."""

from __future__ import annotations

import random

import pytest
from map_cases import one
from maps_by_hand import component_map, date_map, named, plan_of, representation_map, structure_map
from structures_by_hand import table, version_of
from turned_maps import turned_map

from kafka_replica.errors import NotInvertibleError
from kafka_replica.local import transform
from kafka_replica.mapping import inverse


@pytest.mark.parametrize("seed", range(12))
def test_there_and_back(seed: int) -> None:
    """Data mapped and mapped back is the data again, all columns of it."""
    contents, rows = turned_map(random.Random(seed))
    frame = table(rows)
    plan = plan_of(version_of(*contents), rules={"ambiguous-key": "off"})
    mapped = transform(frame, plan)
    assert mapped["_errors"].null_count() == mapped.height
    back = transform(mapped.drop("_errors", "_source"), plan, reverse=True)
    assert back["_errors"].null_count() == back.height, back["_errors"].drop_nulls()[0]
    assert back.select(frame.columns).equals(frame)


@pytest.mark.parametrize(
    ("contents", "reason"),
    [
        (one("R", "A>X", "B>X"), "gives several values the same outcome"),
        (one("R", "/(.*)/>x"), "by expressions or substrings"),
        (one("R", "0:2=AB>x"), "by expressions or substrings"),
        (one("R", "A>X", "A>Y"), "several outcomes"),
        (one("R", "A>"), "maps values to nothing"),
        (one("R", "A>x@2000-01-01/"), "depends on time"),
        ((named("S", "A B"), named("G", "A"), structure_map()), "dimension B leaves no trace"),
        ((named("S", "A", timed=False, attributes="WHEN"), named("G", "A"),
          structure_map(date_map("WHEN", "TIME_PERIOD", "dd/MM/yyyy", "A"))), "tells less than the date in WHEN"),
        ((named("S", "A"), named("G", "A B"), representation_map("R", "1>2"),
          structure_map(component_map("A", "A"), component_map("A", "B", "R"))), "A is mapped by several maps"),
    ],
)  # fmt: skip
def test_what_forgets_cannot_be_turned(contents: tuple[str, ...], reason: str) -> None:
    """It is refused with the reason, rather than giving back what was not there."""
    with pytest.raises(NotInvertibleError, match=reason):
        inverse(plan_of(version_of(*contents)))
