"""A service with two workers, as processes, and a writer that changes its topic."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from kafka_replica.embedded import LocalKafka
from support import plain_http
from support.broker.kafka_tools import producer, write
from support.server.server_tools import ServerProcess
from support.server.worker_tools import URN, codelist, worker_pids
from support.waiting import wait_until


class Service:
    """A service with two workers, and a writer that changes its topic."""

    def __init__(self, kafka: LocalKafka, topic: str, folder: Path, *options: str) -> None:
        self._writer = producer(kafka.bootstrap_servers, topic)
        self._topic = topic
        self._number = 0
        self.write()
        arguments = [
            "--topic",
            topic,
            "-b",
            kafka.bootstrap_servers,
            "--workers",
            "2",
            "--access-log",
            "json",
            *options,
        ]
        self.server = ServerProcess(folder, *arguments)
        self.address = self.server.address
        wait_until(lambda: self.get("/health/ready").status_code == 200)

    def write(self) -> int:
        """Replace both codelists in one transaction; return the number that both then have."""
        self._number += 1
        records: dict[str, str | None] = {
            URN.format(letter): codelist(letter, self._number).decode() for letter in "AB"
        }
        write(self._writer, self._topic, records)
        return self._number

    def get(self, path: str, **headers: str) -> httpx.Response:
        """Return an answer over a connection of its own, which any worker may accept; ask again if it dies."""
        for _ in range(100):
            try:
                return plain_http.get(self.address + path, headers=headers, timeout=60)
            except (httpx.RemoteProtocolError, httpx.ReadError):
                continue
        raise AssertionError("no connection ended with an answer")

    @property
    def workers(self) -> list[int]:
        """The workers."""
        return worker_pids(self.server.process.pid)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Write within the block, so slowly that a version is kept for the requests of a session."""
        ended = threading.Event()

        def run() -> None:
            while not ended.wait(0.02):
                self.write()

        thread = threading.Thread(target=run)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join(60)


@contextmanager
def service(kafka: LocalKafka, topic: str, folder: Path, *options: str) -> Iterator[Service]:
    """Run a service with two workers."""
    made = Service(kafka, topic, folder, *options)
    with made.server:
        yield made
