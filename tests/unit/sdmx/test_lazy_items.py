"""Lazily made items and texts: equal for all users, in any order of access."""

from __future__ import annotations

import copy
import gc
import pickle
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, cast

import pytest

from kafka_replica.sdmx import Urn
from kafka_replica.sdmx.containers import InternationalString, Items, LazyItems, StubItems, with_ids, written_texts
from kafka_replica.sdmx.errors import UnreadableContentError

COUNT = 3000  # several batches of items that are made together


class Written(NamedTuple):
    """The source of an item, as read."""

    number: int


class Made:
    """An item that equals no other."""

    def __init__(self, id_: str, written: Written) -> None:
        self.id, self.number = id_, written.number


def items() -> LazyItems[Made]:
    """Return a long list of which no item is made."""
    return LazyItems({f"I{number}": Written(number) for number in range(COUNT)}, Made, Written)


@pytest.mark.thorough
def test_all_threads_get_the_same_items() -> None:
    """Threads that request all items and threads that request single ones get the same objects."""
    for _ in range(5):
        lazy, start = items(), threading.Barrier(8)

        def ask(turn: int, lazy: LazyItems[Made] = lazy, start: threading.Barrier = start) -> dict[str, Made]:
            start.wait()
            if turn % 2:
                return dict(lazy.items())
            step = -1 if turn % 4 else 1
            return {id_: lazy[id_] for id_ in list(lazy)[::step]}

        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(ask, range(8)))
        for id_, value in lazy.items():
            assert (value.id, f"I{value.number}") == (id_, id_)
            assert all(answer[id_] is value for answer in answers)
        assert list(lazy) == [f"I{number}" for number in range(COUNT)]


def test_an_item_made_early_is_among_all_items() -> None:
    """An item made early is among all items, and a list whose items are all made makes none again."""
    lazy = items()
    some = {id_: lazy[id_] for id_ in ("I0", "I255", "I256", "I2999")}
    everything = dict(lazy.items())
    assert all(everything[id_] is value for id_, value in some.items())
    assert all(lazy[id_] is value for id_, value in everything.items())
    with pytest.raises(KeyError):
        lazy["I3000"]


def test_the_state_of_the_garbage_collector_is_restored() -> None:
    """Long lists are made without the garbage collector, whose state is restored afterwards."""
    assert gc.isenabled()
    assert len(items().values()) == COUNT
    assert gc.isenabled()
    gc.disable()
    try:
        assert len(items().values()) == COUNT
        assert not gc.isenabled()
    finally:
        gc.enable()


@pytest.mark.parametrize("bad", ["", None, "a b", "a\nb", "ä", "a/b", "x" * 300])
def test_ids_that_are_none(bad: Any) -> None:
    """Invalid ids are found among a few and among many."""
    for count in (3, 1000):
        ids: list[Any] = [f"A{number}" for number in range(count)]
        assert with_ids(dict.fromkeys(ids), count) is not None
        assert with_ids(dict.fromkeys([*ids, bad]), count + 1) is None
        assert with_ids(dict.fromkeys(ids), count + 1) is None  # an id appears twice
    assert with_ids({"0-1": 1, "@$": 2}, 2) == {"0-1": 1, "@$": 2}


def test_values_of_items() -> None:
    """Items give their values as a mapping does; those of a stub raise on access."""
    held = Items({"A": 1, "B": 2})
    assert (list(held.values()), list(held.items())) == ([1, 2], [("A", 1), ("B", 2)])
    stub: StubItems[int] = StubItems(Urn.of("Codelist", "A", "CL", "1.0"))
    for view in (stub.values(), stub.items(), stub.keys()):
        with pytest.raises(UnreadableContentError):
            list(view)


PAIRS = (("en", "Frequency"), ("fr", "Fréquence"), ("en", "second"))


@pytest.mark.parametrize("given", [PAIRS, list(PAIRS), iter(PAIRS)])
def test_texts_from_pairs(given: Any) -> None:
    """All pairs are kept in order, and a look-up gives the first."""
    one = InternationalString(given)
    assert one.texts == PAIRS
    assert (one["EN"], one.get("de"), one.get("de", "none"), "FR" in one, "de" in one, 5 in one) == (
        "Frequency", None, "none", True, False, False,
    )  # fmt: skip


def test_texts_are_a_mapping_that_nobody_changes() -> None:
    """Texts made from mappings, names or messages are equal, immutable, and not tracked by the garbage collector."""
    whole = {"en": "Frequency", "fr": "Fréquence"}
    held = [
        InternationalString(whole), InternationalString(texts=whole),
        InternationalString(cast("Mapping[str, str]", InternationalString(whole))), written_texts(dict(whole)),
    ]  # fmt: skip
    for one in [*held, copy.copy(held[3]), copy.deepcopy(held[3]), pickle.loads(pickle.dumps(held[3]))]:
        assert isinstance(one, Mapping)
        assert isinstance(one, InternationalString)
        assert one == held[0]
        assert not one != held[0]  # noqa: SIM202 - tests __ne__
        assert one != InternationalString({"en": "Frequency"})
        assert hash(one) == hash(held[0])
        assert (dict(one), list(one.items()), list(one.keys())) == (whole, list(whole.items()), list(whole))
        assert (list(one.values()), len(one), bool(one)) == (list(whole.values()), 2, True)
        assert repr(one) == f"InternationalString({whole!r})"
        assert not gc.is_tracked(one)
        for name in ("texts", "other"):
            with pytest.raises(AttributeError):
                setattr(one, name, ())
    assert InternationalString() == InternationalString({})
    assert not InternationalString()
    assert held[0] != whole


def test_texts_do_not_change_with_their_source_dict() -> None:
    """Texts do not change with the list or dict they were made from."""
    pairs, whole = [("en", "a")], {"en": "a"}
    one, other = InternationalString(pairs), InternationalString(whole)
    pairs.append(("fr", "b"))
    whole["fr"] = "b"
    assert one.texts == other.texts == (("en", "a"),)
