"""The persistent sorted mapping equals a sorted dict."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_replica.common.sorted_map import SortedMap

KEYS = st.integers(0, 400)


@settings(max_examples=200, deadline=None)
@given(
    st.dictionaries(KEYS, st.integers(), max_size=300),
    st.lists(st.tuples(KEYS, st.none() | st.integers()), max_size=300),
    KEYS,
)
@pytest.mark.thorough
def test_the_map_equals_a_sorted_dict(first: dict[int, int], changes: list[tuple[int, int | None]], start: int) -> None:
    """After any changes the mapping equals a dict in order, and its earlier versions are unchanged."""
    kept, expected = SortedMap(first.items()), dict(first)
    past = [(kept, sorted(expected.items()))]
    for key, value in changes:
        if value is None:
            kept = kept.delete(key)
            expected.pop(key, None)
        else:
            kept = kept.set(key, value)
            expected[key] = value
        past.append((kept, sorted(expected.items())))
    for version, items in past:
        assert list(version.items()) == items
        assert len(version) == len(items)
        assert version.first == min((key for key, _ in items), default=None)
    assert list(kept.items(start)) == [item for item in sorted(expected.items()) if item[0] >= start]
    assert all((key in kept) == (key in expected) for key in range(401))


@pytest.mark.thorough
def test_a_change_shares_nearly_everything() -> None:
    """A change in a hundred thousand keys copies one node of each level, and emptying the mapping leaves nothing."""
    big: SortedMap[int, int | None] = SortedMap((number, None) for number in range(100_000))
    for changed in (big.set(50_000, 1), big.delete(50_000), big.set(100_000, 1)):
        assert len(_nodes(changed._root) - _nodes(big._root)) <= 8
    left = big
    for number in range(100_000):
        left = left.delete(number)
        assert len(left) == 99_999 - number
    assert list(left.items()) == []
    assert list(left.set(1, 1).items()) == [(1, 1)]


def _nodes(node: object) -> set[int]:
    return {id(node)}.union(*map(_nodes, getattr(node, "children", ())))
