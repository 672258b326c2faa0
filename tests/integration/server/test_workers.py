"""``kafka-replica serve --workers 2``: real processes that answer from the same versions."""

from __future__ import annotations

import os
import signal
import socket
from pathlib import Path

import httpx
import pytest

from kafka_replica.embedded import LocalKafka
from kafka_replica.testing.pytest_plugin import TopicMaker
from support import plain_http
from support.effort import usual_or_long
from support.server.app_tools import Event, EventParser
from support.server.worker_service import Service, service
from support.server.worker_tools import (
    STRUCTURES,
    URN,
    counted,
    cpu_ticks,
    is_running,
    numbers,
    version_of,
)
from support.waiting import wait_until

pytestmark = pytest.mark.broker

_REQUESTS = "kafka_replica_http_requests_total"


@pytest.mark.scaled
def test_versions_never_mix_nor_go_back(local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path) -> None:
    """Under constant change, answers of both workers are whole transactions and never older than those before.

    Pinned paths give the same version from every worker, also with 304, and each request is counted once.
    """
    sessions, sent, last, gone = usual_or_long(30, 100, 3000), 0, 0, 0
    with service(local_kafka, kafka_topic("workers"), tmp_path) as running:
        before = {pid: cpu_ticks(pid) for pid in running.workers}
        first = counted(running.address, _REQUESTS, route="sdmx")
        seen = set()
        with running.writing():
            for _ in range(sessions):
                current = running.get(STRUCTURES)
                number, incarnation = version_of(current)
                assert number >= last
                assert len(numbers(current)) == 1
                last, sent = number, sent + 1
                seen.add(number)
                for _ in range(4):
                    pinned = running.get(f"/version/{number}.{incarnation}{STRUCTURES}")
                    if pinned.status_code == 410:
                        gone += 1
                        break
                    assert (version_of(pinned)[0], numbers(pinned)) == (number, numbers(current))
                    assert pinned.headers["etag"] == current.headers["etag"]
                    tag = current.headers["etag"]
                    again = running.get(f"/version/{number}{STRUCTURES}", **{"If-None-Match": tag})
                    assert again.status_code in {304, 410}
        assert counted(running.address, _REQUESTS, route="sdmx") - first == sent
        assert len(before) == 2
        assert all(cpu_ticks(pid) > ticks for pid, ticks in before.items())
        assert counted(running.address, "kafka_replica_http_workers") == 2
    assert len(seen) > sessions // 10
    assert gone < sessions // 5


@pytest.mark.long
def test_a_killed_worker_is_replaced(local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path) -> None:
    """Requests continue meanwhile; the new worker keeps the same versions, continues streams, no count is lost."""
    with service(local_kafka, kafka_topic("workers-killed"), tmp_path) as running:
        kept = version_of(running.get(STRUCTURES))[0]
        last_id = events(running, 1)[0].id
        wanted = running.write()
        wait_until(lambda: numbers(running.get(STRUCTURES)) == {str(wanted)})
        sent = counted(running.address, _REQUESTS, route="sdmx")
        victims = running.workers
        for victim in victims:
            os.kill(victim, signal.SIGKILL)
            wait_until(lambda: running.get(STRUCTURES).status_code == 200)
            wait_until(lambda: len(running.workers) == 2)
            wait_until(lambda: counted(running.address, "kafka_replica_http_workers") == 2)
        assert not set(victims) & set(running.workers)
        assert f'"target":"{STRUCTURES}"' in running.server.log.read_text()  # the main process writes the log
        assert counted(running.address, _REQUESTS, route="sdmx") >= sent + 2
        assert counted(running.address, "kafka_replica_http_worker_restarts_total") == 2
        for _ in range(10):
            assert numbers(running.get(f"/version/{kept}{STRUCTURES}")) == {"1"}
        (event,) = events(running, 1, last_id)
        assert (event.name, event.data["changed"]) == ("change", [URN.format("A"), URN.format("B")])


@pytest.mark.long
def test_a_signal_ends_all_processes(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Systemd is notified once of the start and of the end; an open stream ends; the status is 0."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(str(tmp_path / "notify"))
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        with service(local_kafka, kafka_topic("workers-end"), tmp_path) as running:
            workers = running.workers
            with plain_http.stream("GET", f"{running.address}/changes", timeout=60) as stream:
                chunks = stream.iter_bytes()
                next(chunks)
                running.server.process.send_signal(signal.SIGTERM)
                assert list(chunks) is not None  # it ends
            assert running.server.wait() == 0, running.server.log.read_text()
        systemd.setblocking(False)
        assert [systemd.recv(100), systemd.recv(100)] == [b"READY=1", b"STOPPING=1"]
        with pytest.raises(BlockingIOError):
            systemd.recv(100)
    assert not any(is_running(pid) for pid in workers)


@pytest.mark.long
def test_workers_end_with_the_main_process(local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path) -> None:
    """If the main process is killed, its workers end, too, instead of answering from a version that grows old."""
    with service(local_kafka, kafka_topic("workers-main"), tmp_path) as running:
        workers = running.workers
        running.server.process.kill()
        wait_until(lambda: not any(is_running(pid) for pid in workers))


@pytest.mark.long
def test_a_worker_that_hangs_delays_others_for_a_limited_time(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path
) -> None:
    """The worker is replaced, because readers would otherwise wait for it."""
    with service(local_kafka, kafka_topic("workers-hung"), tmp_path) as running:
        hung = running.workers[0]
        os.kill(hung, signal.SIGSTOP)
        wanted = running.write()

        def shows() -> bool:
            try:
                return numbers(plain_http.get(running.address + STRUCTURES, timeout=2)) == {str(wanted)}
            except httpx.TransportError:
                return False  # the hanging worker got the connection

        wait_until(shows)
        wait_until(lambda: not is_running(hung))
        assert "does not react" in running.server.log.read_text()


@pytest.mark.long
def test_the_past_is_the_same_from_every_worker(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path
) -> None:
    """Versions that only the history on disk has, instants, the history and differences, with a page for browsers."""
    options = ("--kept-versions", "1", "--history-path", str(tmp_path / "history"))
    with service(local_kafka, kafka_topic("workers-past"), tmp_path, *options) as running:
        versions = [version_of(running.get(STRUCTURES))[0]]
        for _ in range(4):
            wanted = running.write()
            wait_until(lambda wanted=wanted: numbers(running.get(STRUCTURES)) == {str(wanted)})  # type: ignore[misc]
            versions.append(version_of(running.get(STRUCTURES))[0])
        for _ in range(6):
            assert numbers(running.get(f"/version/{versions[0]}{STRUCTURES}")) == {"1"}
            as_of = running.get(f"{STRUCTURES}?asOf={versions[1]}")
            assert (version_of(as_of)[0], numbers(as_of)) == (versions[1], {"2"})
            assert running.get(f"/version/{versions[-1] + 100}{STRUCTURES}").status_code == 404
            shown = running.get("/history").json()["versions"]
            assert [int(each["version"].partition(".")[0]) for each in shown] == versions[::-1]
            found = running.get(f"/diff/{versions[0]}/{versions[-1]}").json()
            assert found["changed"] == [URN.format("A"), URN.format("B")]
            page = running.get("/history", Accept="text/html")
            assert page.headers["content-type"].startswith("text/html")
            missing = running.get(f"/diff/{versions[-1]}/9999", Accept="text/html")
            assert (missing.status_code, missing.headers["content-type"]) == (404, "text/html; charset=utf-8")
        assert counted(running.address, _REQUESTS, route="history") == 12


def events(running: Service, count: int, last_id: str = "") -> list[Event]:
    """Return the first events of a stream that continues after a version."""
    parser, found = EventParser(), list[Event]()
    headers = {"Last-Event-ID": last_id} if last_id else {}
    with plain_http.stream("GET", f"{running.address}/changes", headers=headers, timeout=60) as stream:
        for chunk in stream.iter_bytes():
            found += parser.feed(chunk)
            if len(found) >= count:
                break
    return found
