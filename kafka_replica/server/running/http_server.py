"""The server around the app: uvicorn, signals, systemd, and a shutdown of bounded duration."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from socket import socket
from threading import Thread
from types import FrameType
from typing import Final, cast

import uvicorn
from starlette.types import ASGIApp

from kafka_replica.errors import KafkaReplicaError
from kafka_replica.publication.status import State
from kafka_replica.replica import Replica
from kafka_replica.server.app import Service
from kafka_replica.server.listening.absolute_targets import AbsoluteTargets
from kafka_replica.server.listening.connection import BoundedConnection, bounded_connection
from kafka_replica.server.listening.sockets import tls_context
from kafka_replica.server.listening.systemd import notify, watchdog_interval_s
from kafka_replica.server.settings import ListenSettings

_CHECK_EVERY_S: Final = 0.1


def make_config(service: Service, listen: ListenSettings) -> uvicorn.Config:
    """Return uvicorn's settings.

    Raises:
        ConfigurationError: the files for TLS cannot be used.
    """
    config = uvicorn.Config(
        service.app,
        http=bounded_connection(
            listen.header_timeout_s, listen.write_timeout_s, listen.max_connections, service.known_answers
        ),
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=listen.idle_timeout_s,
        timeout_graceful_shutdown=listen.grace_s,
        h11_max_incomplete_event_size=service.settings.max_url_bytes + service.settings.max_header_bytes,
    )
    config.load()
    config.loaded_app = AbsoluteTargets(cast("ASGIApp", config.loaded_app))
    config.ssl = tls_context(listen)
    return config


class Server(uvicorn.Server):
    """A server that ends open streams before it waits for connections, and that notifies systemd.

    Args:
        config: uvicorn's settings.
        service: the service, whose app is served.
        on_listening: called once the server accepts connections.
    """

    def __init__(self, config: uvicorn.Config, service: Service, on_listening: Callable[[], object]) -> None:
        super().__init__(config)
        self.service = service
        self._on_listening = on_listening
        self._tasks: list[asyncio.Task[None]] = []

    async def startup(self, sockets: list[socket] | None = None) -> None:
        """Start accepting connections."""
        await super().startup([])
        for each in sockets or ():
            self.servers.append(await self._accepting(each))
        self._tasks.append(asyncio.create_task(self._watch_replica()))
        interval_s = watchdog_interval_s()
        if interval_s is not None:
            self._tasks.append(asyncio.create_task(feed_watchdog(interval_s)))
        self._on_listening()

    async def _accepting(self, opened: socket) -> asyncio.Server:
        """Accept connections as uvicorn does, which leaves clients 60 seconds for the handshake of TLS."""
        config, loop = self.config, asyncio.get_running_loop()
        connection = cast("type[BoundedConnection]", config.http_protocol_class)
        return await loop.create_server(
            lambda: connection(config, self.server_state, self.lifespan.state, loop),
            sock=opened,
            backlog=config.backlog,
            ssl=config.ssl,
            ssl_handshake_timeout=None if config.ssl is None else connection.header_timeout_s,
        )

    async def shutdown(self, sockets: list[socket] | None = None) -> None:
        """Stop accepting connections, end streams, and wait for requests for at most ``grace_s``."""
        notify("STOPPING=1")
        for task in self._tasks:
            task.cancel()
        await self.service.feed.close()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle signals within the block; unlike uvicorn, do not raise them again, so that the exit status is 0."""
        with handling_signals(self.handle_exit):
            yield

    async def _watch_replica(self) -> None:
        """Notify systemd when the service is ready; end the server if the replica fails before it has a version."""
        while not is_ready(self.service):
            if has_failed_early(self.service.replica):
                self.should_exit = True
                return
            await asyncio.sleep(_CHECK_EVERY_S)
        notify("READY=1")
        Thread(target=self.service.prepare, name="kafka_replica server preparation", daemon=True).start()


async def feed_watchdog(interval_s: float) -> None:
    """Notify systemd at regular intervals that the process handles requests."""
    while True:
        notify("WATCHDOG=1")
        await asyncio.sleep(interval_s)


@contextmanager
def handling_signals(handle: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Handle SIGINT and SIGTERM within the block; do nothing outside the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def is_ready(service: Service) -> bool:
    """Return whether a service should be reported to systemd as started."""
    return service.replica.ready or (service.settings.ready_when_stale and _has_version(service.replica))


def has_failed_early(replica: Replica) -> bool:
    """Return whether a replica has ended before its first version."""
    return replica.state in {State.FAILED, State.STOPPED} and not _has_version(replica)


def _has_version(replica: Replica) -> bool:
    try:
        replica.snapshot()
    except KafkaReplicaError:
        return False
    return True


def raise_failure(replica: Replica) -> None:
    """Raise the error with which a replica failed, if it has."""
    if replica.state is State.FAILED:
        for _change in replica.changes(timeout_s=0):
            pass  # yields the last version, then raises the error
