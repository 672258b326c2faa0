"""Run the app: uvicorn, signals, systemd, and a shutdown that takes a bounded time."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from socket import socket
from threading import Thread
from typing import Final

import uvicorn

from kafka_replica.errors import KafkaReplicaError
from kafka_replica.history import VersionHistory
from kafka_replica.publication.status import State
from kafka_replica.replica import Replica
from kafka_replica.server.app import Service
from kafka_replica.server.connection import bounded_connection
from kafka_replica.server.listening import address_of, default_hosts, open_socket, tls_context
from kafka_replica.server.sdmx_routes import Answer
from kafka_replica.server.settings import ListenSettings, ServerSettings
from kafka_replica.server.systemd import notify, watchdog_interval_s

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
_LOOK_EVERY_S: Final = 0.1


def serve(
    replica: Replica,
    settings: ServerSettings | None = None,
    listen: ListenSettings | None = None,
    *,
    topic: str | None = None,
    answer: Answer | None = None,
    history: VersionHistory | None = None,
    on_listening: Callable[[str], object] = lambda _address: None,
) -> None:
    """Serve a started replica until SIGTERM or SIGINT, or until it fails before its first version.

    At the end open streams are closed, requests get ``grace_s`` to finish, and the replica stays open. Signals are
    handled if the function is called in the main thread.

    Args:
        replica: the replica, which the caller starts and closes.
        settings: the settings of the app.
        listen: the settings of the server.
        topic: as for ``create_app``.
        answer: as for ``create_app``.
        history: as for ``create_app``.
        on_listening: called with the server's address, such as ``http://127.0.0.1:8080``, once it accepts connections.

    Raises:
        ConfigurationError: a file cannot be read, or the address cannot be opened.
        KafkaReplicaError: the error with which the replica failed, whenever that was.
    """
    settings, listen = settings or ServerSettings(), listen or ListenSettings()
    if not settings.allowed_hosts:
        settings = replace(settings, allowed_hosts=default_hosts(listen.host))
    service = Service(replica, settings, topic, answer, history)
    config = make_config(service, listen)
    with open_socket(listen) as opened:
        address = address_of(opened, listen)
        server = Server(config, service, lambda: on_listening(address))
        asyncio.run(server.serve(sockets=[opened]))
    _raise_failure(replica)


def make_config(service: Service, listen: ListenSettings) -> uvicorn.Config:
    """Return uvicorn's settings.

    Raises:
        ConfigurationError: the files for TLS cannot be used.
    """
    config = uvicorn.Config(
        service.app,
        http=bounded_connection(listen.header_timeout_s, listen.write_timeout_s),
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        limit_concurrency=listen.max_connections,
        timeout_keep_alive=listen.idle_timeout_s,
        timeout_graceful_shutdown=listen.grace_s,
        h11_max_incomplete_event_size=service.settings.max_url_bytes + service.settings.max_header_bytes,
    )
    config.load()
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
        """Begin to accept connections."""
        await super().startup(sockets)
        self._tasks.append(asyncio.create_task(self._watch_replica()))
        interval_s = watchdog_interval_s()
        if interval_s is not None:
            self._tasks.append(asyncio.create_task(_feed_watchdog(interval_s)))
        self._on_listening()

    async def shutdown(self, sockets: list[socket] | None = None) -> None:
        """Stop accepting connections, end streams, and wait for requests, for ``grace_s`` at most."""
        notify("STOPPING=1")
        for task in self._tasks:
            task.cancel()
        await self.service.feed.close()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle signals within the block; unlike uvicorn, do not raise them again: a graceful end is a success."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self.handle_exit) for number in _SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    async def _watch_replica(self) -> None:
        """Notify systemd when the service is ready; end the server if the replica fails before it has a version."""
        while not self._is_ready():
            if self.service.replica.state in {State.FAILED, State.STOPPED} and not self._has_version():
                self.should_exit = True
                return
            await asyncio.sleep(_LOOK_EVERY_S)
        notify("READY=1")
        Thread(target=self.service.prepare, name="kafka_replica server preparation", daemon=True).start()

    def _is_ready(self) -> bool:
        replica, settings = self.service.replica, self.service.settings
        return replica.ready or (settings.ready_when_stale and self._has_version())

    def _has_version(self) -> bool:
        try:
            self.service.replica.snapshot()
        except KafkaReplicaError:
            return False
        return True


async def _feed_watchdog(interval_s: float) -> None:
    while True:
        notify("WATCHDOG=1")
        await asyncio.sleep(interval_s)


def _raise_failure(replica: Replica) -> None:
    if replica.state is State.FAILED:
        for _change in replica.changes(timeout_s=0):
            pass  # the last version, then the error
