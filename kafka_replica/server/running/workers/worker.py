"""A worker process, which answers requests from a copy of the main process's versions."""

from __future__ import annotations

import asyncio
import logging
from logging.handlers import QueueHandler
from multiprocessing.connection import Connection
from socket import socket
from typing import Any, Final, NamedTuple, cast

import uvicorn

from kafka_replica.errors import KafkaReplicaError
from kafka_replica.sdmx.lookups.live_structures import LiveStats
from kafka_replica.server.app import Service
from kafka_replica.server.listening.open_files import ListeningSocket
from kafka_replica.server.operation.process_roles import WorkerRole
from kafka_replica.server.running.http_server import Server, make_config
from kafka_replica.server.running.workers.copy import ReplicaCopy
from kafka_replica.server.running.workers.link import Link
from kafka_replica.server.running.workers.messages import LogLine, ServiceDescription, ServingReport, WorkerHeartbeat
from kafka_replica.server.running.workers.shown import SharedNumber

ALIVE_EVERY_S: Final = 1.0
_ACCEPTED_AT_ONCE: Final = 1  # so that a worker does not take all waiting connections away from the others
_BACKLOG: Final = 2048


def main(descriptor: int) -> None:
    """Answer requests until the process receives SIGTERM, or the main process ends.

    Args:
        descriptor: the file descriptor of the connection to the main process.
    """
    link = Link(Connection(descriptor), "the main process")
    begin = next(link.received(), None)
    if not isinstance(begin, ServiceDescription):
        return  # the main process has ended
    _log_to(link, begin)
    _Worker(begin, link).run()
    link.close()


class _Worker:
    def __init__(self, begin: ServiceDescription, link: Link) -> None:
        self._begin, self._link = begin, link
        self._server: _WorkerServer | None = None
        self._has_ended = False

    def run(self) -> None:
        """Serve until a signal, or until the main process ends."""
        begin = self._begin
        with ReplicaCopy(begin, self._link, SharedNumber(begin.shown_descriptor), self._end) as replica:
            role = WorkerRole(begin.main_socket, begin.has_history_on_disk)
            form_timeout_s = begin.listen.header_timeout_s
            service = Service(replica, begin.settings, begin.topic, role=role, form_timeout_s=form_timeout_s)
            config = make_config(service, begin.listen)
            replica.feed.may_serve.wait()
            self._server = _WorkerServer(config, service, self._link)
            if self._has_ended:
                return
            with ListeningSocket(begin.socket_descriptor) as listening:
                asyncio.run(self._server.serve(sockets=[listening]))

    def _end(self) -> None:
        self._has_ended = True
        if self._server is not None:
            self._server.should_exit = True


class _WorkerServer(Server):
    """A server that shares its socket with other processes, and sends heartbeats to the main process."""

    def __init__(self, config: uvicorn.Config, service: Service, link: Link) -> None:
        super().__init__(config, service, lambda: link.put(ServingReport()))
        self._link = link

    async def startup(self, sockets: list[socket] | None = None) -> None:
        """Start accepting connections."""
        self.config.backlog = _ACCEPTED_AT_ONCE
        await super().startup(sockets)
        for each in sockets or ():
            each.listen(_BACKLOG)  # asyncio has set the socket's backlog to _ACCEPTED_AT_ONCE
        self._tasks.append(asyncio.create_task(self._send_heartbeats()))

    async def _send_heartbeats(self) -> None:
        while True:
            self._link.put(WorkerHeartbeat(await asyncio.to_thread(self._stats)))
            await asyncio.sleep(ALIVE_EVERY_S)

    def _stats(self) -> LiveStats | None:
        try:
            return self.service.versions.live.stats()
        except KafkaReplicaError:
            return None


class _LogQueue(NamedTuple):
    """Adapts a link to the queue of a ``QueueHandler``."""

    link: Link

    def put_nowait(self, record: logging.LogRecord) -> None:
        """Send a log line to the main process."""
        self.link.put(LogLine(record))


def _log_to(link: Link, begin: ServiceDescription) -> None:
    logging.getLogger().addHandler(QueueHandler(cast("Any", _LogQueue(link))))
    for name, level in begin.log_levels.items():
        logging.getLogger(name or None).setLevel(level)
