"""The persistent mapping, and the index of keys that is built on it."""

from __future__ import annotations

from statistics import median

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_replica.common.persistent_map import PersistentMap
from kafka_replica.sdmx.lookups.index.keys import KeyIndex
from kafka_replica.sdmx.urns.urn import Urn
from support.effort import examples

pytestmark = pytest.mark.thorough


class Clumsy:
    """A key with a poor hash, so that leaves are full."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __hash__(self) -> int:
        return self.number % 3

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Clumsy) and self.number == other.number


KEYS = st.integers(-500, 500) | st.text(max_size=2) | st.builds(Clumsy, st.integers(0, 200))


@settings(max_examples=examples(200), deadline=None)
@given(
    st.dictionaries(KEYS, st.integers(), max_size=150),
    st.sampled_from([range(0), range(129), range(3500), range(0, 1 << 14, 32), range(0, 1 << 19, 1 << 10)]),
    st.lists(st.tuples(KEYS, st.none() | st.integers())),
)
def test_the_mapping_equals_a_dict(
    first: dict[object, int], more: range, changes: list[tuple[object, int | None]]
) -> None:
    """After any changes the mapping equals a dict, and its earlier versions are unchanged."""
    first.update((number, -number) for number in more)  # for trees of several levels, also with crowded leaves
    kept, expected = PersistentMap(first), dict(first)
    past = [(kept, dict(expected))]
    for key, value in changes[: 5 if len(more) > 1000 else 20]:
        if value is None:
            kept = kept.delete(key)
            expected.pop(key, None)
        else:
            kept = kept.set(key, value)
            expected[key] = value
        past.append((kept, dict(expected)))
    for one, held in past:
        assert dict(one.items()) == held
        assert set(one) == set(held)
        assert sorted(one.values()) == sorted(held.values())
        assert len(one) == len(held)
        assert all(one.get(key) == value and key in one for key, value in held.items())
        assert "not there" not in one
        assert one.get("not there", 7) == 7


def test_a_change_shares_nearly_everything() -> None:
    """Changing one of a hundred thousand keys makes few new objects, about as many as of a thousand."""

    def nodes(node: object) -> set[int]:
        below = [nodes(child) for child in node] if isinstance(node, tuple) else []
        return {id(node)}.union(*below)

    made = {}
    for size in (1_000, 100_000):
        kept = PersistentMap((f"key {at}", at) for at in range(size))
        held = nodes(kept._root)
        assert len(held) > size / 64
        new = [len(nodes(kept.set(f"another {at}", 1)._root) - held) for at in range(30)]
        # Python's hashes of texts differ between runs: a full leaf may be split in 32.
        assert max(new) <= 6 + 32
        made[size] = median(new)
    assert made[1_000] <= made[100_000] <= 6


@settings(max_examples=examples(100), deadline=None)
@given(
    st.sets(st.tuples(*[st.sampled_from("ABC")] * 4), max_size=30),
    st.lists(st.tuples(*[st.sampled_from("ABC")] * 4, st.booleans()), max_size=30),
)
def test_the_index_of_keys(first: set[tuple[str, ...]], changes: list[tuple[str, str, str, str, bool]]) -> None:
    """The index finds the URNs by any of their parts, and its earlier versions find theirs."""
    held = {Urn("p", *one) for one in first}
    index = KeyIndex(held)
    before, was = index, set(held)
    for cls, agency, id_, version, is_there in changes:
        urn = Urn("p", cls, agency, id_, version)
        index = index.updated([(urn, is_there)])
        (held.add if is_there else held.discard)(urn)
    for one, expected in ((index, held), (before, was)):
        assert set(one) == expected
        assert len(one) == len(expected)
        assert set(one.named("A", "B", "C")) == {
            urn for urn in expected if (urn.cls, urn.agency, urn.id) == tuple("ABC")
        }
        assert one.with_id("A") == sorted(urn for urn in expected if urn.id == "A")
        found = one.find("A", lambda agency: agency in "AB", "C")
        assert set(found) == {urn for urn in expected if urn.cls == "A" and urn.agency in "AB" and urn.id == "C"}
        assert all((Urn("p", *urn) in one) == (Urn("p", *urn) in expected) for urn in first)
