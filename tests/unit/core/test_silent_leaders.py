"""Leaders that are frozen, lag behind or report errors of their own, as far as the positions of fetches know them."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from kafka_replica.broker.errors import check_code
from kafka_replica.broker.reading.fetch_position import FetchPosition
from kafka_replica.broker.reading.fetch_positions import FetchPositions
from kafka_replica.broker.reading.marker_reader import MarkerReader
from kafka_replica.broker.wire.cluster import Cluster, Purpose
from kafka_replica.broker.wire.messages import MetadataResponse, TopicMetadata
from kafka_replica.errors import BrokerError, BrokerUnavailableError
from kafka_replica.records import Partition

ID = UUID(int=7)
BROKERS = {number: ("localhost", number) for number in (1, 2, 3)}


class SilentLink:
    """A connection to a frozen broker."""

    def __init__(self) -> None:
        self.usable, self.broker, self.received_s = True, "localhost:3", 0.0

    def send(self, _api: int, _body: bytes) -> asyncio.Future[memoryview]:
        """Return the future of an answer that never comes."""
        return asyncio.get_running_loop().create_future()

    def close(self) -> None:
        """Close the connection."""
        self.usable = False


def metadata_of(leaders: dict[int, int]) -> MetadataResponse:
    """Return what a broker knows of the leader of each partition."""
    epochs = dict.fromkeys(leaders, 1)
    copies = dict.fromkeys(leaders, frozenset(BROKERS))
    return MetadataResponse(BROKERS, {"t": TopicMetadata("t", ID, 0, leaders, epochs, copies)})


def positions_of(leaders: dict[int, int], answers: Any) -> tuple[FetchPositions, Cluster]:
    """Return the positions of a topic's partitions in a cluster whose brokers are silent apart from metadata."""
    settings: Any = SimpleNamespace(servers=(), has_given_setup_timeout=False)
    cluster: Any = Cluster(settings, 0.05)
    cluster._brokers = BROKERS
    cluster._links = {(node, Purpose.ASK): SilentLink() for node in BROKERS}

    async def metadata(_topics: object, nodes: Any = ()) -> list[MetadataResponse]:
        found: list[MetadataResponse] = answers(list(nodes))
        return found

    cluster.metadata = metadata
    found = FetchPositions(cluster, ["t"])
    found._topic_ids = {"t": ID}
    for number, leader in leaders.items():
        place = Partition("t", number)
        found._fetch_positions[place] = found._by_id[ID, number] = FetchPosition(place, ID, leader)
    return found, cluster


@pytest.mark.parametrize("query", ["ends", "settings"])
def test_the_leaders_are_queried_if_a_broker_is_silent(query: str) -> None:
    """The next query goes to the new leader, on another connection; the frozen broker keeps its own open."""

    async def look() -> None:
        positions, cluster = positions_of({0: 3}, lambda _: [metadata_of({0: 2})])
        frozen = cluster._links[3, Purpose.ASK]
        for leader in (2, 2):
            asked = "the end of t-0" if query == "ends" else "retention.ms"
            with pytest.raises(BrokerUnavailableError, match=f"requesting {asked}: broker .* did not answer in 0.05 s"):
                await (positions.ends() if query == "ends" else positions.settings(["retention.ms"]))
            assert positions.leaders == {leader}
        assert not frozen.usable

    asyncio.run(look())


def test_an_added_partition_that_a_broker_does_not_know_yet_is_asked_for_again() -> None:
    """The leaders know of an added partition before the broker that is asked for its leader."""

    async def look() -> None:
        newest, older = metadata_of({0: 1, 1: 2}), metadata_of({0: 1})
        positions, _ = positions_of({0: 1}, lambda nodes: [newest] if nodes else [older])
        unread = await positions.check_topics()
        assert unread == [Partition("t", 1)]
        with pytest.raises(BrokerUnavailableError):
            await positions.add(unread)

    asyncio.run(look())


def test_a_broker_counts_as_heard_only_with_all_other_leaders() -> None:
    """A leader that answers does not prove that another leader does."""
    reader = MarkerReader({"bootstrap.servers": "127.0.0.1:1"}, ["t"])
    places = [FetchPosition(Partition("t", number), ID, number) for number in (0, 1)]
    reader._fetch_positions._fetch_positions = {each.partition: each for each in places}
    answered = []
    for number in (0, 0, 1, 0, 0, 1):
        places[number].has_responded = True
        answered.append(reader._have_all_answered())
    assert answered == [False, False, True, False, False, True]
    reader.close()


@pytest.mark.parametrize(("code", "passes"), [(-1, True), (80, True), (89, True), (7, True), (35, False)])
def test_an_error_of_the_broker_itself_may_be_temporary(code: int, passes: bool) -> None:
    """An unexpected error in a broker, for example while it is shutting down, ends no replica."""
    with pytest.raises(BrokerError, match="looking") as found:
        check_code(code, "looking")
    assert isinstance(found.value, BrokerUnavailableError) is passes
