"""Management of the worker processes: start, monitoring, replacement and shutdown."""

from __future__ import annotations

import json
import logging
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from threading import Thread
from typing import Any, Final, cast

from kafka_replica.errors import KafkaReplicaError
from kafka_replica.metrics.server import FOLDER_VARIABLE, SummedMetrics
from kafka_replica.sdmx.lookups.live_structures import LiveStats
from kafka_replica.server.running.workers.feed import VersionFeed
from kafka_replica.server.running.workers.link import Link
from kafka_replica.server.running.workers.messages import (
    LogLine,
    PresentBadRecords,
    ServiceDescription,
    ServingReport,
    WorkerHeartbeat,
    WorkerVersion,
)

_log = logging.getLogger("kafka_replica.server")

STUCK_AFTER_S: Final = 30.0
"""The time without a sign of life after which a worker is replaced."""
_SILENT_AFTER_S: Final = 10.0  # the same for a worker that is missing a version: shorter, because all readers wait
_LATE_AFTER_S: Final = 300.0  # the time in which a worker has to receive a version, which may be large
_PAUSES_S: Final = (0.0, 1.0, 5.0, 15.0)  # the pause before a restart, by the number of consecutive failures
_HEALTHY_S: Final = 60.0
_KILL_AFTER_S: Final = 5.0  # in addition to the time that requests have to finish
_PROGRAM: Final = """\
import json, signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)  # the main process receives it, too, and ends the workers
sys.path[:] = json.loads(sys.argv[2])
from kafka_replica.server.running.workers.worker import main
main(int(sys.argv[1]))
"""


class _Worker:
    """A worker process."""

    def __init__(self, number: int, process: subprocess.Popen[bytes], link: Link) -> None:
        self.number = number
        self.process = process
        self.link = link
        self.began_s = self.heard_s = time.monotonic()
        self.is_serving = False
        self.statistics: LiveStats | None = None
        self.bad_records = PresentBadRecords(())
        """The records that the worker knows."""


class Workers:
    """A fixed number of worker processes.

    Args:
        begin: the description of the service, which each worker receives.
        count: the number of workers.
        feed: the feed of versions.
        metrics_folder: the folder in which workers count requests.
    """

    def __init__(self, begin: ServiceDescription, count: int, feed: VersionFeed, metrics_folder: str) -> None:
        self._begin = begin
        self._feed = feed
        self._environment = {**os.environ, FOLDER_VARIABLE: metrics_folder}
        self._environment.pop("NOTIFY_SOCKET", None)  # systemd watches the main process
        self._workers: dict[int, _Worker | None] = dict.fromkeys(range(count))
        self._failures = dict.fromkeys(range(count), 0)
        self._start_at_s = dict.fromkeys(range(count), 0.0)
        self._has_served: set[int] = set()

    @property
    def are_serving(self) -> bool:
        """True if all workers accept connections."""
        return all(worker is not None and worker.is_serving for worker in self._workers.values())

    def statistics(self) -> Sequence[LiveStats]:
        """Return the workers' last reported statistics."""
        running = [worker for worker in self._workers.values() if worker is not None]
        return [worker.statistics for worker in running if worker.statistics is not None]

    def send(self, message: object) -> None:
        """Send a message to all workers."""
        for worker in self._workers.values():
            if worker is not None:
                worker.link.put(message)

    def send_bad_records(self, message: PresentBadRecords) -> None:
        """Send the records that were set aside to all workers that do not know them yet."""
        for worker in self._workers.values():
            if worker is not None and worker.bad_records != message:
                worker.link.put(message)
                worker.bad_records = message

    def watch(self, metrics: SummedMetrics) -> None:
        """Start workers that are not running, and kill those that are stuck; call this several times a second.

        Args:
            metrics: counts workers and restarts.

        Raises:
            KafkaReplicaError: the first process of a worker ended before it accepted connections.
        """
        late = set(self._feed.late(_SILENT_AFTER_S, _LATE_AFTER_S))
        for number, worker in self._workers.items():
            if worker is None:
                if time.monotonic() >= self._start_at_s[number]:
                    self._workers[number] = self._started(number)
                continue
            status = worker.process.poll()
            if status is not None:
                self._note_end(worker, status)
                metrics.ended(worker.process.pid)
                metrics.restarts.inc()
            elif worker.link in late or (worker.is_serving and time.monotonic() - worker.heard_s > STUCK_AFTER_S):
                _log.error("worker %d (process %d) does not react; it is ended", number, worker.process.pid)
                self._feed.detach(worker.link)
                worker.process.kill()
            elif worker.is_serving:
                self._has_served.add(number)
        metrics.workers.set(sum(worker is not None and worker.is_serving for worker in self._workers.values()))

    def stop(self, grace_s: float) -> None:
        """End all workers after their requests; kill those that need 5 s more than ``grace_s``. Idempotent."""
        running = [worker for worker in self._workers.values() if worker is not None]
        for worker in running:
            worker.process.send_signal(signal.SIGTERM)
        give_up_s = time.monotonic() + grace_s + _KILL_AFTER_S
        for worker in running:
            try:
                worker.process.wait(max(0.0, give_up_s - time.monotonic()))
            except subprocess.TimeoutExpired:
                _log.warning("worker %d did not end in time; it is killed", worker.number)
                worker.process.kill()
                worker.process.wait()
            self._feed.detach(worker.link)
            worker.link.close()

    def _started(self, number: int) -> _Worker:
        own, others = socket.socketpair()
        with others:
            begin = self._begin
            descriptors = (others.fileno(), begin.socket_descriptor, begin.shown_descriptor)
            process = subprocess.Popen(
                worker_command(others.fileno()),
                stdin=subprocess.DEVNULL,
                pass_fds=descriptors,
                env=self._environment,
            )
        link = Link(Connection(own.detach()), f"worker {number}")
        worker = _Worker(number, process, link)
        link.put(begin)
        Thread(target=self._listen, args=[worker], name=f"kafka_replica worker {number}", daemon=True).start()
        self._feed.attach(link)
        return worker

    def _listen(self, worker: _Worker) -> None:
        handlers: dict[type, Callable[..., object]] = {
            WorkerVersion: lambda message: self._feed.received(worker.link, message.sequence),
            LogLine: lambda message: logging.getLogger(message.record.name).handle(message.record),
            WorkerHeartbeat: lambda message: setattr(worker, "statistics", message.stats),
            ServingReport: lambda _message: setattr(worker, "is_serving", True),
        }
        for message in worker.link.received():
            worker.heard_s = time.monotonic()
            self._feed.heard(worker.link)
            handlers[type(message)](message)
        worker.is_serving = False
        self._feed.detach(worker.link)

    def _note_end(self, worker: _Worker, status: int) -> None:
        number = worker.number
        self._feed.detach(worker.link)
        worker.link.close()
        self._workers[number] = None
        if number not in self._has_served and not self._failures[number]:
            raise KafkaReplicaError(
                f"worker {number} of the service ended with status {status} before it accepted connections; its last "
                "output names the reason"
            )
        is_healthy = time.monotonic() - worker.began_s > _HEALTHY_S
        self._failures[number] = 0 if is_healthy else self._failures[number] + 1
        pause_s = _PAUSES_S[min(self._failures[number], len(_PAUSES_S) - 1)]
        self._start_at_s[number] = time.monotonic() + pause_s
        _log.error("worker %d ended with status %d; another one starts in %g s", number, status, pause_s)


def worker_command(descriptor: int) -> list[str]:
    """Return the command of a worker, which imports modules from where this process imports them.

    With ``-m``, Python would first look in the current folder, whose files may be of another user. ``-P`` prevents this
    until the worker has the path of this process, which also finds packages that are not installed. The worker also has
    the options of this process, such as ``-I``, as the processes of ``multiprocessing`` have.

    Args:
        descriptor: the file descriptor of the connection to this process, which the worker inherits.
    """
    options: list[str] = cast("Any", subprocess)._args_from_interpreter_flags()  # noqa: SLF001
    return [sys.executable, *options, "-P", "-c", _PROGRAM, str(descriptor), json.dumps(list(map(str, sys.path)))]
