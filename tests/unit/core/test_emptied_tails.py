"""The reader of batches skips the end of a log that compaction has emptied, and waits for no throttled answer."""

from __future__ import annotations

import asyncio
import struct
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import closing
from typing import Any
from uuid import UUID

import pytest

from kafka_replica import Partition
from kafka_replica.broker.reading import fetch_position as places
from kafka_replica.broker.reading.fetch_position import FetchPosition
from kafka_replica.broker.reading.fetches import Fetch
from kafka_replica.broker.reading.marker_reader import MarkerReader
from kafka_replica.broker.wire.messages import FetchedPartition
from kafka_replica.errors import BrokerUnavailableError

P0, ID = Partition("t", 0), UUID(int=7)
EMPTY = FetchedPartition(ID, 0, 0, 9, 9, 0, diverged=False, batches=memoryview(b""))
Settings = Callable[[list[str]], Coroutine[Any, Any, dict[str, dict[str, str | None]]]]


@pytest.fixture
def reader() -> Iterator[MarkerReader]:
    """A reader of one partition, up to offset 5 of 9, in leader epoch 3."""
    with closing(MarkerReader({"bootstrap.servers": "127.0.0.1:1"}, ["t"])) as made:
        place = FetchPosition(P0, ID, 1)
        place.position, place.epoch = 5, 3
        made._fetch_positions._fetch_positions = {P0: place}
        yield made


def answered_empty(reader: MarkerReader, monkeypatch: pytest.MonkeyPatch, settings: Settings) -> FetchPosition:
    """Let three fetches be empty, half a second apart, with these settings of the topic; return the place then."""
    (place,) = reader._fetch_positions
    reader._fetch_positions.settings = settings  # type: ignore[method-assign, assignment] # instead of a broker
    monkeypatch.setattr(places, "_SURE_S", 0)
    for _ in range(3):
        reader._take_batches(place, EMPTY, alone=True)
    return place


@pytest.mark.parametrize("known", [{"t": {"cleanup.policy": "compact,delete"}}, {}])
def test_an_emptied_tail_is_skipped_without_its_leader_epoch(
    reader: MarkerReader, monkeypatch: pytest.MonkeyPatch, known: dict[str, dict[str, str | None]]
) -> None:
    """The next fetch names no epoch: the removed batches may be newer, and the broker would report a truncated log."""

    async def settings(names: list[str]) -> dict[str, dict[str, str | None]]:
        assert names == ["remote.storage.enable"]
        return known

    place = answered_empty(reader, monkeypatch, settings)
    assert (place.position, place.epoch) == (9, -1)
    assert reader.origin.leader_epochs == {}
    assert reader._gaps == {P0}


@pytest.mark.parametrize("answers", [True, False])
def test_nothing_is_skipped_that_remote_storage_may_have(
    reader: MarkerReader, monkeypatch: pytest.MonkeyPatch, *, answers: bool
) -> None:
    """Remote storage may return nothing for long; the partition is fetched like all others meanwhile."""

    async def settings(_names: list[str]) -> dict[str, dict[str, str | None]]:
        if not answers:
            raise BrokerUnavailableError("silent")
        return {"t": {"remote.storage.enable": "true"}}

    place = answered_empty(reader, monkeypatch, settings)
    assert (place.position, place.epoch, place.is_suspect) == (5, 3, False)
    assert not reader._gaps
    assert (reader._temporary_error is None) == answers


@pytest.mark.parametrize("throttle_ms", [0, 3000])
def test_metadata_after_a_throttled_fetch_is_not_awaited(
    reader: MarkerReader, monkeypatch: pytest.MonkeyPatch, throttle_ms: int
) -> None:
    """The broker answers the fetch at once, and the next query only after the throttle time."""
    waits_s = 3.0 if throttle_ms else 0.2
    monkeypatch.setattr("kafka_replica.broker.reading.marker_reader._ANSWER_S", waits_s)
    answer: asyncio.Future[memoryview] = reader._loop.create_future()
    answer.set_result(memoryview(struct.pack(">ihi", throttle_ms, 0, 0) + b"\1\0"))
    link: Any = type("Link", (), {"descriptor": None})
    reader._last = Fetch(1, link, answer, reader._loop.create_future(), alone=True)
    begun_s = time.monotonic()
    assert reader._listed_after_fetch() is None
    assert (time.monotonic() - begun_s < 0.9 * waits_s) == bool(throttle_ms)
