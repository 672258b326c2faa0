"""The asyncio interface of a replica, and continuing after a version, on a real broker."""

from __future__ import annotations

import asyncio
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from kafka_replica import Change, Partition, Position, Replica, ReplicaClosedError, UsageError, WaitTimeoutError
from kafka_replica.aio import AsyncReplica
from kafka_replica.embedded import LocalKafka
from kafka_replica.producer import TransactionalProducer
from kafka_replica.testing.pytest_plugin import TopicMaker
from support.broker.kafka_tools import quiet
from support.doc_blocks import programs

pytestmark = pytest.mark.broker
by_both = pytest.mark.usefixtures("boundaries")


def config(kafka: LocalKafka) -> dict[str, str | int | bool]:
    """Return the configuration of a client."""
    return quiet({"bootstrap.servers": kafka.bootstrap_servers})


def run(main: Coroutine[object, object, None]) -> None:
    """Run a coroutine, with asyncio's own checks, and end it if it hangs."""
    asyncio.run(asyncio.wait_for(main, 120), debug=True)


def put(producer: TransactionalProducer, value: str) -> Position:
    """Write a transaction of one key; return where it ends."""
    with producer.transaction() as transaction:
        transaction.put("k", value.encode())
    return transaction.committed.position


@by_both
def test_an_awaited_write_arrives_in_the_same_loop(local_kafka: LocalKafka, kafka_topic: TopicMaker) -> None:
    """A write that is awaited in the loop that writes it arrives: a blocked loop would never write it."""
    topic = kafka_topic("async-mine")
    partition = Partition(topic, 0)
    mine = TransactionalProducer(config(local_kafka), topic, topic)

    async def main() -> None:
        async with AsyncReplica(Replica(config(local_kafka), topic)) as replica:
            assert len(await replica.wait_ready(timeout_s=60)) == 0
            end = 0
            for number in range(20):
                begun = asyncio.create_task(replica.wait_for({partition: end + 1}, timeout_s=60))
                await asyncio.sleep(0)
                assert not begun.done()
                position = await asyncio.to_thread(put, mine, str(number))
                assert (await begun)["k"].value == str(number).encode()
                assert (await replica.wait_for(position, timeout_s=60)).get("k") is not None
                end = position[partition] + 1  # the marker
            assert replica.snapshot()["k"].value == b"19"
            with pytest.raises(WaitTimeoutError, match="did not reach"):
                await replica.wait_for({partition: 10_000}, timeout_s=0.2)
            waiting = asyncio.create_task(replica.wait_for({partition: 10_000}))
            await asyncio.sleep(0)
        with pytest.raises(ReplicaClosedError):
            await waiting

    run(main())


def test_going_on_after_a_version(local_kafka: LocalKafka, kafka_topic: TopicMaker, boundaries: str) -> None:
    """Versions made without a listener are delivered one by one, unchanged; then the next one; then the end."""
    topic = kafka_topic("async-since")
    mine = TransactionalProducer(config(local_kafka), topic, topic)

    async def main() -> None:
        async with AsyncReplica(Replica(config(local_kafka), topic)) as replica:
            known = await replica.wait_ready(timeout_s=60)
            for number in range(10):
                last = await replica.wait_for(await asyncio.to_thread(put, mine, str(number)), timeout_s=30)
            changes = replica.changes(since=known.version, incarnation=replica.replica.incarnation)
            heard = [await anext(changes) for _ in range(last.version - known.version)]
            assert [change.version for change in heard] == list(range(known.version + 1, last.version + 1))
            assert [change.snapshot["k"].value for change in heard] == [str(number).encode() for number in range(10)]
            assert [change.previous is not None and change.previous.get("k") for change in heard[1:]] == [
                change.snapshot["k"] for change in heard[:-1]
            ]
            if boundaries == "markers":
                assert [change.transactions for change in heard] == [1] * 10
            next_one = asyncio.create_task(anext(changes))
            await asyncio.to_thread(put, mine, "live")
            assert (await next_one).snapshot["k"].value == b"live"
            assert (await anext(replica.changes(since=known.version, incarnation="another"))).initial
            end = asyncio.create_task(anext(changes, None))
            await asyncio.sleep(0)
        assert await end is None

    run(main())


@by_both
def test_closing_waits_for_listeners_without_holding_the_loop(local_kafka: LocalKafka, kafka_topic: TopicMaker) -> None:
    """``close`` waits for a listener that waits for the loop; the loop continues meanwhile."""
    replica = Replica(config(local_kafka), kafka_topic("async-close"))
    was_called, may_return, returned = threading.Event(), threading.Event(), threading.Event()

    def listener(_change: Change) -> None:
        was_called.set()
        may_return.wait(60)
        returned.set()

    async def main() -> None:
        replica.subscribe(listener)
        side = await AsyncReplica(replica).start()
        assert await asyncio.to_thread(was_called.wait, 30)
        closing = asyncio.create_task(side.close())
        await asyncio.sleep(0.05)
        assert not closing.done()
        may_return.set()
        await closing
        assert returned.is_set()
        await side.close()

    run(main())


@by_both
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # forking with threads is the subject of the test
def test_waits_in_a_forked_child_raise_with_advice(local_kafka: LocalKafka, kafka_topic: TopicMaker) -> None:
    """In a forked child each wait raises with advice, and closing does no harm; pickling raises with advice."""
    with Replica(config(local_kafka), kafka_topic("async-fork")) as replica:
        replica.wait_ready(timeout_s=60)
        side = AsyncReplica(replica)
        changes = side.changes()
        for what in (side, changes, replica.snapshot()):
            with pytest.raises(UsageError, match="cannot be pickled"):
                pickle.dumps(what)
        child = os.fork()
        if child == 0:
            threading.Timer(60, os._exit, [3]).start()
            try:
                os._exit(asyncio.run(_refused(side, changes)))
            finally:
                os._exit(2)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 17
        assert replica.snapshot().version == 1


async def _refused(side: AsyncReplica, changes: Any) -> int:
    asks: tuple[Callable[[], Any], ...] = (
        side.wait_ready, side.snapshot, lambda: side.wait_for({}), lambda: anext(changes),
    )  # fmt: skip
    for ask in asks:
        try:
            await ask()
        except UsageError as error:
            if "after the fork" not in str(error):
                return 1
        else:
            return 4
    await side.close()
    return 17


@pytest.mark.long
@pytest.mark.runs("docs/listeners.md")
def test_the_examples_of_the_page_run(local_kafka: LocalKafka, kafka_topic: TopicMaker) -> None:
    """Each example of docs/listeners.md runs as it is written there."""
    examples = programs("docs/listeners.md")
    topic, outputs = kafka_topic("async-docs"), list[str]()
    for example in examples:
        code = example.replace("localhost:9092", local_kafka.bootstrap_servers).replace("sdmx.structures", topic)
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, example + done.stderr
        assert done.stdout
        outputs.append(done.stdout)
    assert len(examples) == 5
    assert outputs[3:] == ["b'hello'\n", "{'version': 1, 'keys': 1}\n"]
