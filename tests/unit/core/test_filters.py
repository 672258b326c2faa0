"""Key filters: what they select, how they are combined, and stores that were kept with another filter."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_replica import Change, ConfigurationError, KeyFilter, MemoryStore, Replica, RocksStore, Store, UsageError
from kafka_replica.testing import FakeKafka, FakeTopic

KEYS = [b"urn:codelist:A", b"urn:codelist:B", b"urn:dataflow:A", b"other", b"", b"\xff\xfe:A", "grün".encode()]

codelists, dataflows = KeyFilter.pattern("*codelist*"), KeyFilter.prefix("urn:dataflow:")
ending_in_a = KeyFilter.regex(":A$")


@pytest.mark.parametrize(
    ("key_filter", "kept"),
    [
        (KeyFilter.prefix("urn:"), [0, 1, 2]),
        (KeyFilter.prefix(b"\xff"), [5]),
        (KeyFilter.prefix(""), [0, 1, 2, 3, 4, 5, 6]),
        (codelists, [0, 1]),
        (KeyFilter.pattern("urn:*:[AC]"), [0, 2]),
        (KeyFilter.pattern("codelist"), []),  # the whole key, not a part of it
        (KeyFilter.pattern("gr?n"), [6]),  # a character, not a byte
        (KeyFilter.pattern(""), [4]),
        (ending_in_a, [0, 2, 5]),
        (KeyFilter.regex("^o"), [3]),
        (KeyFilter.regex("^..:A"), [5]),  # bytes that are not UTF-8 still count as characters
        (KeyFilter(lambda key: len(key) == 5, "five bytes"), [3, 6]),
        (codelists | dataflows, [0, 1, 2]),
        (codelists & ending_in_a, [0]),
        (~ending_in_a, [1, 3, 4, 6]),
        (~(codelists | dataflows) & ending_in_a, [5]),
        (ending_in_a & ~codelists | KeyFilter.prefix("o"), [2, 3, 5]),
    ],
    ids=str,
)
def test_each_filter_keeps_exactly_the_expected_keys(key_filter: KeyFilter, kept: list[int]) -> None:
    """Each filter keeps exactly the expected keys, whatever bytes they are."""
    assert [at for at, key in enumerate(KEYS) if key_filter(key)] == kept


def test_names_tell_filters_apart() -> None:
    """Different filters have different names, by which a store knows whether it was kept with the same filter."""
    a, b = KeyFilter.prefix("a"), KeyFilter.prefix("b")
    filters = [
        a, b, a | b, b | a, a & b, ~a, ~(a | b), ~a | b, a | b & ~a, (a | b) & ~a,
        KeyFilter.prefix("a or prefix b"), KeyFilter.prefix("a' or prefix b'b"), KeyFilter.pattern("a"),
        KeyFilter.regex("a"), KeyFilter.prefix(b"\xff"), KeyFilter.prefix("\\xff"), KeyFilter.prefix(""),
    ]  # fmt: skip
    assert len({str(key_filter) for key_filter in filters}) == len(filters)
    assert str(KeyFilter.prefix("a") | KeyFilter.prefix("b")) == str(a | b)


def test_mistakes_raise_when_the_filter_is_made() -> None:
    """Mistakes raise when the filter is made, those of a predicate name the key at which it fails."""
    with pytest.raises(ConfigurationError, match=r"'\[a' is not a pattern|'\(a' is not a pattern"):
        KeyFilter.regex("(a")
    with pytest.raises(ConfigurationError, match="needs a name"):
        KeyFilter(lambda _: True, "")
    topic = FakeTopic()
    topic.put(b"\xff", b"1")
    key_filter = KeyFilter.prefix("x") | KeyFilter(lambda key: key.decode() == "k", "sloppy")
    with (
        topic.replica(key_filter=key_filter) as replica,
        pytest.raises(UsageError, match=r"filter sloppy failed at key \\xff: Uni"),
    ):
        replica.wait_ready(timeout_s=10)


@pytest.fixture(params=["memory", "rocks"])
def stores(request: pytest.FixtureRequest) -> Iterator[list[Store]]:
    """A factory for one store, opened as often as a replica needs it."""
    if request.param == "memory":
        yield [MemoryStore()] * 9
        return
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        yield _Reopened(Path(name))


class _Reopened(list[Store]):
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __getitem__(self, _: object) -> RocksStore:  # type: ignore[override]
        return RocksStore(self._folder)


@pytest.mark.thorough
@pytest.mark.parametrize("boundaries", ["markers", "quiescence"])
def test_a_changed_filter_never_shows_the_old_selection(stores: list[Store], boundaries: str) -> None:
    """A changed filter shows what a fresh replica shows, never the old selection; the same filter reads nothing."""
    topic = FakeTopic(partitions=3)
    for number in range(20):
        topic.put(f"{'ab'[number % 2]}{number}", b"%d" % number)
    topic.delete("a2")
    a, b = KeyFilter.prefix("a"), KeyFilter.prefix("b")
    for number, key_filter in enumerate([a, a, b, None, a | b, ~a, ~a]):
        heard: list[Change] = []
        with topic.replica(stores[number], key_filter=key_filter, boundaries=boundaries) as replica:
            replica.subscribe(heard.append)
            found = dict(replica.wait_ready(timeout_s=10))
        with topic.replica(key_filter=key_filter, boundaries=boundaries) as fresh:
            assert found == dict(fresh.wait_ready(timeout_s=10))
        assert all(key_filter is None or key_filter(key) for change in heard for key in change.snapshot)
        assert (replica.status().counts.records == 0) == (number in {1, 6})


@pytest.mark.thorough
@pytest.mark.parametrize("one_key_space", [False, True])
def test_the_filter_receives_topic_keys(stores: list[Store], one_key_space: bool) -> None:
    """The filter receives keys as their topic names them."""
    kafka = FakeKafka()
    codes, flows = kafka.topic("codes"), kafka.topic("flows", partitions=2)
    for topic in (codes, flows):
        for key in ("a1", "b1", f"a of {topic.name}"):
            topic.put(key, topic.name.encode())
    options = {"one_key_space": one_key_space, "key_filter": KeyFilter.prefix("a")}

    def look(replica: Replica) -> dict[bytes, bytes | None]:
        snapshot = replica.wait_ready(timeout_s=10)
        if one_key_space:
            return {key: record.value for key, record in snapshot.items()}
        return {b"%s/%s" % (name, key): record.value for name in (b"codes", b"flows")
                for key, record in snapshot.of(name.decode()).items()}  # fmt: skip

    with kafka.replica("codes", "flows", store=stores[0], **options) as replica:
        found = look(replica)
    apart = {b"codes/a1": b"codes", b"codes/a of codes": b"codes", b"flows/a1": b"flows", b"flows/a of flows": b"flows"}
    assert found == ({b"a1": b"flows", b"a of codes": b"codes", b"a of flows": b"flows"} if one_key_space else apart)
    with kafka.replica(
        "codes", "flows", store=stores[1], **{**options, "key_filter": KeyFilter.prefix("b")}
    ) as replica:
        assert {key[-2:] for key in look(replica)} == {b"b1"}
