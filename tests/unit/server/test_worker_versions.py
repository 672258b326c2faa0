"""The rule by which versions reach readers of several workers, and the command of a worker."""

from __future__ import annotations

import os
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from kafka_replica.errors import BadRecordError, ConfigurationError, NotReadyError, UsageError
from kafka_replica.listeners import Change
from kafka_replica.records import Partition, Position
from kafka_replica.server import ListenSettings, ServerSettings, serve
from kafka_replica.server.running.workers.copy import ReplicaCopy
from kafka_replica.server.running.workers.feed import VersionFeed
from kafka_replica.server.running.workers.link import Link
from kafka_replica.server.running.workers.messages import (
    PresentBadRecords,
    ServiceDescription,
    ServingPermission,
    WorkerVersion,
)
from kafka_replica.server.running.workers.processes import Workers, worker_command
from kafka_replica.server.running.workers.processes import _Worker as Worker
from kafka_replica.server.running.workers.shown import SharedNumber
from kafka_replica.stores import MemoryStore, Snapshot
from kafka_replica.stores.delta import AppliedChanges, Delta
from kafka_replica.testing import FakeTopic
from support.effort import examples
from support.waiting import wait_until

PLACE = Partition("t", 0)


@pytest.fixture
def shown() -> Iterator[SharedNumber]:
    """A shared number."""
    with tempfile.TemporaryFile() as file:
        yield SharedNumber(file.fileno())


class KeptLink:
    """A link that keeps what is sent."""

    def __init__(self) -> None:
        self.sent: list[Any] = []

    def put(self, message: Any) -> None:
        """Keep a message."""
        self.sent.append(message)

    def put_later(self, messages: Any) -> None:
        """Keep messages."""
        self.sent += messages()


class Written:
    """A store, and the changes of its versions."""

    def __init__(self) -> None:
        self.store = MemoryStore()
        self.offset = 0

    def change(self, **values: bytes | None) -> Change:
        """Make a version."""
        previous: Snapshot = self.store.snapshot()
        records = []
        for key, value in values.items():
            records.append((key.encode(), value, self.offset, 0, ()))
            self.offset += 1
        applied = self.store.apply(Delta(records, PLACE), Position({PLACE: self.offset}))
        assert isinstance(applied, AppliedChanges)
        before = previous if previous.version else None
        return Change(self.store.snapshot(), before, applied.changed, applied.deleted, 1, 1)


@pytest.mark.thorough
@hypothesis_settings(max_examples=examples(200), deadline=None)
@given(st.lists(st.sampled_from(["version", "join", "leave", "receive"]), max_size=30), st.randoms())
def test_a_version_is_shown_when_all_workers_have_it(steps: list[str], chance: Any) -> None:
    """Whatever workers do: what is shown never goes back, and each worker that may serve has it."""
    with tempfile.TemporaryFile() as file:
        number, written = SharedNumber(file.fileno()), Written()
        feed, has, last = VersionFeed(number, kept=2), dict[Any, int](), 0
        for step in steps:
            if step == "version":
                feed.record(written.change(a=b"%d" % feed.sequence), "i")
            elif step == "join":
                link: Any = KeptLink()
                feed.attach(link)
                has[link] = 0
            elif has:
                link = chance.choice(list(has))
                if step == "leave":
                    feed.detach(link)
                    del has[link]
                else:
                    has[link] = chance.randint(has[link], feed.sequence)
                    feed.received(link, has[link])
            serving = [
                received
                for link, received in has.items()
                if any(isinstance(each, ServingPermission) for each in link.sent)
            ]
            assert number.value >= last
            assert all(received >= number.value for received in serving)
            if step == "version":
                assert number.value == max(last, min(serving, default=feed.sequence))
            last = number.value


def begin() -> ServiceDescription:
    """Return the description of a replica."""
    return ServiceDescription(
        ServerSettings(), ListenSettings(), ("t",), None, has_key_spaces=False, has_large_values=False, kept_versions=5,
        recent_changes=10, has_history_on_disk=False, main_socket="", socket_descriptor=0, shown_descriptor=0,
        log_levels={},
    )  # fmt: skip


class Copied:
    """A copy of a feed, over a real connection."""

    def __init__(self, feed: VersionFeed, shown: SharedNumber) -> None:
        ends: tuple[Connection, Connection] = Pipe()
        self.main, other = Link(ends[0], "copy"), Link(ends[1], "main")
        self.held: list[WorkerVersion] = []
        self.replica = ReplicaCopy(begin(), other, shown, lambda: None).start()
        feed.attach(self.main)
        Thread(target=self._receive, daemon=True).start()

    def _receive(self) -> None:
        self.held += self.main.received()

    def has(self, sequence: int) -> None:
        """Wait until the copy has a version."""
        wait_until(lambda: any(message.sequence >= sequence for message in self.held))


def content(snapshot: Snapshot) -> dict[bytes, Any]:
    """Return the records of a version."""
    return dict(snapshot)


def test_a_copy_has_the_same_versions(shown: SharedNumber) -> None:
    """Numbers, positions, incarnation, records and changes are those of the original, also of kept versions."""
    written, feed = Written(), VersionFeed(shown, kept=5)
    for number in range(4):
        written.store.begin_at(7) if number == 0 else None
        feed.record(written.change(a=b"%d" % number, b=None if number == 3 else b"x"), "incarnation")
    copied = Copied(feed, shown)
    try:
        copied.has(4)
        original = written.store.snapshot()
        assert copied.replica.snapshot().version == original.version == 10
        changes = copied.replica.changes(since=7, incarnation="incarnation", timeout_s=0)
        assert content(copied.replica.snapshot()) == content(original)
        assert copied.replica.snapshot().position == original.position
        assert copied.replica.at(8)["a"].value == b"1"
        found = [next(changes) for _ in range(3)]
        assert [(each.version, sorted(each.changed), sorted(each.deleted)) for each in found] == [
            (8, [b"a", b"b"], []), (9, [b"a", b"b"], []), (10, [b"a"], [b"b"]),
        ]  # fmt: skip
        assert copied.replica.incarnation == "incarnation"
    finally:
        copied.main.close()
        copied.replica.close()


def test_a_version_that_others_lack_is_kept_back(shown: SharedNumber) -> None:
    """A copy that has a version shows it only once the shared number allows it, and then without a message."""
    written, feed = Written(), VersionFeed(shown, kept=5)
    feed.record(written.change(a=b"1"), "i")
    copied, slow = Copied(feed, shown), KeptLink()
    try:
        feed.attach(slow)  # type: ignore[arg-type]
        feed.received(slow, 1)  # type: ignore[arg-type]
        copied.has(1)
        feed.received(copied.main, 1)
        assert copied.replica.snapshot()["a"].value == b"1"
        feed.record(written.change(a=b"2"), "i")
        copied.has(2)
        feed.received(copied.main, 2)
        assert copied.replica.snapshot()["a"].value == b"1"
        shown.value = 2
        assert copied.replica.snapshot()["a"].value == b"2"
    finally:
        copied.main.close()
        copied.replica.close()


def test_the_whole_state_may_come_again(shown: SharedNumber) -> None:
    """If a difference is not known, copies get all records; listeners get the whole state, as from the original."""
    written, feed = Written(), VersionFeed(shown, kept=5)
    feed.record(written.change(a=b"1", b=b"1"), "i")
    copied = Copied(feed, shown)
    try:
        copied.has(1)
        feed.received(copied.main, 1)
        changes = copied.replica.changes(timeout_s=60)
        assert next(changes).initial
        change = written.change(a=None, c=b"2")
        feed.record(Change(change.snapshot, None, change.snapshot.keys(), ()), "i")
        copied.has(2)
        feed.received(copied.main, 2)
        assert content(copied.replica.snapshot()) == content(change.snapshot)
        assert copied.replica.snapshot().version == 2
        assert next(changes).initial
        assert set(copied.replica.at(1)) == {b"a", b"b"}
    finally:
        copied.main.close()
        copied.replica.close()


def test_only_a_silent_worker_is_late(shown: SharedNumber) -> None:
    """A worker that receives a large version has time as long as it gives signs of life, up to a limit."""
    written, feed, link = Written(), VersionFeed(shown, kept=0), KeptLink()
    feed.attach(link)  # type: ignore[arg-type]
    feed.received(link, 0)  # type: ignore[arg-type]
    assert not feed.late(-1, -1)  # it lacks nothing
    feed.record(written.change(a=b"1"), "i")
    assert feed.late(-1, 60) == [link]
    assert feed.late(60, -1) == [link]
    assert not feed.late(60, 60)
    feed.heard(link)  # type: ignore[arg-type]
    assert not feed.late(60, 60)
    feed.received(link, 1)  # type: ignore[arg-type]
    assert not feed.late(-1, -1)


def test_a_copy_without_a_version_is_not_ready(shown: SharedNumber) -> None:
    """The copy says so as a replica does."""
    copied = Copied(VersionFeed(shown, kept=0), shown)
    try:
        with pytest.raises(NotReadyError):
            copied.replica.snapshot()
        assert not copied.replica.status().ready
    finally:
        copied.main.close()
        copied.replica.close()


def test_a_copy_lists_the_records_that_were_set_aside(shown: SharedNumber) -> None:
    """Each worker gets the list once, also one that starts later, and again when it has changed."""
    bad = BadRecordError("t", 0, 7, "it has no key", "repair it", b"k")
    copied, link = Copied(VersionFeed(shown, kept=0), shown), KeptLink()
    workers = Workers(begin(), 3, VersionFeed(shown, kept=0), "")
    process: Any = None
    try:
        for number, each in enumerate((copied.main, link)):
            workers._workers[number] = Worker(number, process, each)  # type: ignore[arg-type]
            for message in (PresentBadRecords(()), PresentBadRecords((bad,)), PresentBadRecords((bad,))):
                workers.send_bad_records(message)
        assert link.sent == [PresentBadRecords((bad,))]
        wait_until(lambda: [str(each) for each in copied.replica.bad_records] == [str(bad)])
        workers.send_bad_records(PresentBadRecords(()))
        wait_until(lambda: copied.replica.bad_records == [])
        assert link.sent[1:] == [PresentBadRecords(())]
    finally:
        copied.main.close()
        copied.replica.close()


def test_the_numbers_of_a_store_begin_once() -> None:
    """A store that has versions keeps its numbers."""
    written = Written()
    written.change(a=b"x")
    with pytest.raises(UsageError, match="cannot be changed"):
        written.store.begin_at(5)


def test_a_function_of_the_caller_needs_one_process() -> None:
    """A function of the caller is refused with several workers, because other processes do not have it."""
    with FakeTopic().replica() as replica, pytest.raises(ConfigurationError, match="one worker only"):
        serve(replica, listen=ListenSettings(port=0, workers=2), answer=lambda _request, _structures: None)  # type: ignore[arg-type,return-value]


@pytest.mark.parametrize(("is_on_path", "status"), [(False, 0), (True, 7)])
def test_a_worker_imports_modules_from_where_the_main_process_does(
    is_on_path: bool, status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file in the current folder with the name of a package that the worker needs is not executed.

    The worker finds packages that only the main process's path has; without a description, it ends at once.
    """
    (tmp_path / "h11.py").write_text("raise SystemExit(7)\n")
    if not is_on_path:  # modules that the worker imports before it has the path
        for name in ("json", "signal", "sitecustomize"):
            (tmp_path / f"{name}.py").write_text("raise SystemExit(8)\n")
    if is_on_path:
        monkeypatch.syspath_prepend(tmp_path)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    ours, theirs = socket.socketpair()
    with theirs:
        ours.close()
        descriptor = theirs.fileno()
        done = subprocess.run(
            worker_command(descriptor), cwd=tmp_path, env=environment, pass_fds=[descriptor], check=False, timeout=120
        )
    assert done.returncode == status
