"""The asyncio side of a replica, without a broker: a thread makes versions, event loops are notified."""

from __future__ import annotations

import asyncio
import pickle
import random
import threading
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress

import pytest

from kafka_replica import (
    Changes,
    KafkaReplicaError,
    NotReadyError,
    Replica,
    ReplicaClosedError,
    UsageError,
    WaitTimeoutError,
)
from kafka_replica.aio import AsyncChanges, AsyncReplica, _called
from support.core.publisher_driver import Driver

NOBODY = {"bootstrap.servers": "127.0.0.1:1"}


def run(main: Coroutine[object, object, None]) -> None:
    """Run a coroutine with asyncio's debug checks, and end it if it hangs."""
    asyncio.run(asyncio.wait_for(main, 60), debug=True)


def changes_of(driver: Driver, *, since: int | None = None, max_pending: int = 10_000) -> AsyncChanges:
    """Return an iterator of changes as ``AsyncReplica.changes`` makes it."""
    return AsyncChanges(Changes(driver.publisher.mailbox(max_pending, since), 0))


@pytest.fixture
def writing() -> Driver:
    """A driver with one version; ``in_a_thread`` makes it write."""
    driver = Driver()
    driver.count_to(1)
    return driver


def in_a_thread(driver: Driver, versions: int) -> threading.Thread:
    """Write versions, sometimes with a pause, as the follower's thread would."""

    def write() -> None:
        dice = random.Random(4)
        while driver.version < versions:
            driver.count_to(min(versions, driver.version + dice.randrange(4)))
            time.sleep(dice.choice((0, 0.0001, 0.001)))
        driver.publisher.stopped()

    thread = threading.Thread(target=write)
    thread.start()
    return thread


@pytest.mark.thorough
def test_an_iterator_is_woken_by_another_thread(writing: Driver) -> None:
    """An iterator returns every version, in order, until the replica is closed."""

    async def main() -> None:
        changes = changes_of(writing)
        thread = in_a_thread(writing, 200)
        assert [change.version async for change in changes] == list(range(1, 201))
        thread.join()

    run(main())


@pytest.mark.thorough
def test_giving_up_loses_nothing(writing: Driver) -> None:
    """Cancelling waits at any moment loses nothing: each change is returned later, once, and nothing remains."""

    async def main() -> None:
        changes, heard = changes_of(writing), list[int]()
        thread = in_a_thread(writing, 300)
        dice = random.Random(5)
        cancelled = 0
        with suppress(StopAsyncIteration):
            while True:
                try:
                    async with asyncio.timeout(dice.choice((0, 0.0001, 0.0005))):
                        change = await anext(changes)
                except TimeoutError:
                    cancelled += 1
                    continue
                heard.append(change.version)
        assert heard == list(range(1, 301))
        assert cancelled > 0
        assert changes._changes._mailbox._callbacks._waiting == {}
        thread.join()

    run(main())


@pytest.mark.thorough
def test_many_wait_without_a_thread_each(writing: Driver) -> None:
    """Two hundred waits see one version without a thread each; a cancelled wait is not kept."""

    async def main() -> None:
        threads = threading.active_count()
        position = {partition: offset + 10 for partition, offset in writing.store.snapshot().position.items()}
        tasks = [
            asyncio.create_task(_called(lambda call: writing.publisher.call_when(position, call), timeout_s))
            for timeout_s in [None] * 200 + [0.001] * 20
        ]
        for _ in range(3):
            tasks.append(
                cancelled := asyncio.create_task(_called(lambda call: writing.publisher.call_when(position, call)))
            )
            await asyncio.sleep(0)
            cancelled.cancel()
        await asyncio.wait(tasks[200:])
        assert threading.active_count() == threads
        assert len(writing.publisher._callbacks._waiting) == 200
        assert not any(task.done() for task in tasks[:200])
        await asyncio.to_thread(writing.count_to, 2)
        await asyncio.wait(tasks)
        assert writing.publisher._callbacks._waiting == {}

    run(main())


def test_a_closed_loop_is_no_trouble(writing: Driver, caplog: pytest.LogCaptureFixture) -> None:
    """A loop that ends during a wait disturbs no other: versions are still made, and other waits are notified."""
    loop = asyncio.new_event_loop()
    changes = changes_of(writing)
    waiting = loop.create_task(_take(changes, 3))
    loop.run_until_complete(asyncio.sleep(0.01))
    loop.close()
    assert not waiting.done()
    others = changes_of(writing)
    writing.count_to(3)
    assert caplog.records == []
    run(_take(others, 3))
    run(_take(changes, 2))  # the first change went to the cancelled task
    waiting.get_coro().close()  # otherwise asyncio complains about it
    with suppress(RuntimeError):
        waiting.cancel()


async def _take(changes: AsyncChanges, count: int) -> None:
    for _ in range(count):
        await anext(changes)


@pytest.mark.thorough
def test_several_loops_at_once(writing: Driver) -> None:
    """Several loops in their own threads get all changes with an iterator each, and share what is shared."""
    shared, alone, together = changes_of(writing), dict[int, list[int]](), list[int]()

    async def listen(number: int) -> None:
        own = changes_of(writing)
        alone[number] = []

        async def all_of_mine() -> None:
            alone[number] += [change.version async for change in own]

        async def some_of_ours() -> None:
            async for change in shared:
                together.append(change.version)

        await asyncio.gather(all_of_mine(), some_of_ours(), some_of_ours())

    loops = [threading.Thread(target=run, args=[listen(number)]) for number in range(3)]
    for loop in loops:
        loop.start()
    while len(alone) < 3:
        time.sleep(0.001)
    in_a_thread(writing, 150).join()
    for loop in loops:
        loop.join(60)
    assert all(versions == list(range(1, 151)) for versions in alone.values())
    assert sorted(together) == list(range(1, 151))


@pytest.mark.thorough
def test_a_long_replay_leaves_others_their_turn(writing: Driver) -> None:
    """Another task runs between any two of five hundred pending changes."""

    async def main() -> None:
        writing.count_to(501)
        turns, seen = [0], list[int]()

        async def other() -> None:
            while True:
                turns[0] += 1
                await asyncio.sleep(0)

        task = asyncio.create_task(other())
        changes = changes_of(writing, since=1)
        for _ in range(500):
            await anext(changes)
            seen.append(turns[0])
        task.cancel()
        assert len(set(seen)) == 500

    run(main())


def test_the_end_and_its_reasons(writing: Driver) -> None:
    """A closed replica ends iteration; a failed one raises after earlier changes; a closed iterator keeps nothing."""

    async def main() -> None:
        failing, ended = changes_of(writing), changes_of(writing)
        await ended.aclose()
        assert [change.version async for change in ended] == [1]
        waiting = asyncio.create_task(_take(failing, 2))
        await asyncio.sleep(0.01)
        await asyncio.to_thread(writing.publisher.failed, KafkaReplicaError("gone"))
        with pytest.raises(KafkaReplicaError, match="gone"):
            await waiting

    run(main())


def test_letting_go_closes_the_mailbox(writing: Driver) -> None:
    """A loop that is left with ``break`` closes its mailbox."""

    async def main() -> None:
        async for _ in changes_of(writing):
            break
        writing.count_to(2)
        assert writing.publisher._mailboxes == []

    run(main())


@pytest.mark.parametrize("name", ["wait_ready", "wait_for"])
@pytest.mark.parametrize(("timeout_s", "failures", "succeeds"), [(None, 3, True), (60, 3, True), (0.05, 10**9, False)])
def test_a_rebuild_that_begins_during_a_wait_prolongs_it(
    name: str, timeout_s: float | None, failures: int, succeeds: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A replica that is not ready any more when the task continues is waited for again, within the timeout."""
    replica, attempts = Replica(NOBODY, "t"), list[object]()

    def call_at_once(_positions: object, call: Callable[[], None]) -> Callable[[], None]:
        call()
        return lambda: None

    def result(*_args: object, timeout_s: float) -> str:
        attempts.append(timeout_s)
        if len(attempts) <= failures:
            raise WaitTimeoutError("is not ready")
        return "the version"

    monkeypatch.setattr(replica, "_call_when", call_at_once)
    monkeypatch.setattr(replica, name, result)

    async def main() -> None:
        waiting = AsyncReplica(replica)
        wait = waiting.wait_ready(timeout_s) if name == "wait_ready" else waiting.wait_for({}, timeout_s)
        if succeeds:
            assert await wait == "the version"
            assert attempts == [0] * (failures + 1)
        else:
            with pytest.raises(WaitTimeoutError):
                await wait

    run(main())


def test_a_replica_that_is_not_started_or_closed() -> None:
    """Waiting on a replica that is not started, or is closed, raises with advice and does not hang."""

    async def main() -> None:
        replica = AsyncReplica(Replica(NOBODY, "t"))
        for wait in (replica.wait_ready, lambda: replica.wait_for({})):
            with pytest.raises(NotReadyError):
                await wait()
        with pytest.raises(NotReadyError):
            replica.snapshot()
        with pytest.raises(UsageError, match="cannot be pickled"):
            pickle.dumps(replica)
        with pytest.raises(UsageError, match="cannot be pickled"):
            pickle.dumps(replica.changes())
        async with replica:
            with pytest.raises(WaitTimeoutError, match="is not ready"):
                await replica.wait_ready(timeout_s=0.01)
            waiting = [asyncio.create_task(replica.wait_ready()), asyncio.create_task(anext(replica.changes(), None))]
            await asyncio.sleep(0.01)
            await replica.close()
            with pytest.raises(ReplicaClosedError):
                await waiting[0]
            assert await waiting[1] is None
        with pytest.raises(ReplicaClosedError):
            replica.changes()

    run(main())
