"""The main process of a service with several workers."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from socket import AF_UNIX, SOCK_STREAM, socket
from tempfile import TemporaryDirectory, TemporaryFile
from typing import TYPE_CHECKING, Any, Final

import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kafka_replica.errors import ConfigurationError
from kafka_replica.publication.status import State, Status
from kafka_replica.records import Position
from kafka_replica.replica import Replica
from kafka_replica.server.app import Service
from kafka_replica.server.listening.sockets import address_of, open_socket, tls_context
from kafka_replica.server.listening.systemd import notify, watchdog_interval_s
from kafka_replica.server.operation.process_roles import MainRole
from kafka_replica.server.running.http_server import (
    feed_watchdog,
    handling_signals,
    has_failed_early,
    is_ready,
    make_config,
    raise_failure,
)
from kafka_replica.server.running.workers.feed import VersionFeed
from kafka_replica.server.running.workers.messages import (
    PresentBadRecords,
    PresentStatus,
    ReplicaEnd,
    ServiceDescription,
)
from kafka_replica.server.running.workers.processes import Workers
from kafka_replica.server.running.workers.shown import SharedNumber
from kafka_replica.server.running.workers.statistics import SummedStatistics
from kafka_replica.server.settings import ListenSettings, ServerSettings

if TYPE_CHECKING:
    from kafka_replica.history import VersionHistory

_UPDATE_EVERY_S: Final = 0.1
_POSITIONS: Final = ("position", "read_position", "barrier", "last_stable_offset", "high_watermark")


def serve_with_workers(
    replica: Replica,
    settings: ServerSettings,
    listen: ListenSettings,
    *,
    topic: str | None,
    history: VersionHistory | None,
    on_listening: Callable[[str], object],
) -> None:
    """Serve a started replica with several processes; see ``serve``.

    Raises:
        ConfigurationError: a file cannot be read, or the address cannot be opened.
        KafkaReplicaError: the error with which the replica failed, or a worker cannot start.
    """
    tls_context(listen)  # to report an invalid certificate here, and not in each worker
    with ExitStack() as stack:
        opened = stack.enter_context(open_socket(listen))
        folder = Path(
            stack.enter_context(TemporaryDirectory(prefix="kafka-replica-serve-", ignore_cleanup_errors=True))
        )
        shared = stack.enter_context(TemporaryFile())
        main_socket = stack.enter_context(_main_socket(folder / "main.sock"))
        (folder / "metrics").mkdir()
        options = replica._options  # noqa: SLF001 - for this package only
        shown = SharedNumber(shared.fileno())
        feed = VersionFeed(shown, options.kept_versions)
        begin = ServiceDescription(
            settings=settings,
            listen=listen,
            topics=replica.topics,
            topic=topic,
            has_key_spaces=replica.has_key_spaces,
            has_large_values=replica._has_large_values,  # noqa: SLF001
            kept_versions=options.kept_versions,
            recent_changes=options.recent_changes,
            has_history_on_disk=history is not None,
            main_socket=main_socket.getsockname(),
            socket_descriptor=opened.fileno(),
            shown_descriptor=shared.fileno(),
            log_levels=_log_levels(),
        )
        workers = Workers(begin, listen.workers, feed, str(folder / "metrics"))
        role = MainRole(folder / "metrics", SummedStatistics(workers.statistics))
        service = Service(replica, settings, topic, None, history, role, form_timeout_s=listen.header_timeout_s)
        stack.callback(lambda: asyncio.run(service.close()))
        address = address_of(opened, listen)
        stack.callback(replica._publisher.record(feed.record))  # noqa: SLF001 - record_versions refuses large values
        main = _MainProcess(service, listen, workers, feed, lambda: on_listening(address))
        asyncio.run(main.run(main_socket))
    raise_failure(replica)


class _MainProcess:
    """The main process, which monitors the replica and the workers."""

    def __init__(
        self,
        service: Service,
        listen: ListenSettings,
        workers: Workers,
        feed: VersionFeed,
        on_listening: Callable[[], object],
    ) -> None:
        self._service = service
        self._listen = listen
        self._workers = workers
        self._feed = feed
        self._on_listening: Callable[[], object] | None = on_listening
        self._has_reported_readiness = False
        self._should_end = False

    async def run(self, main_socket: socket) -> None:
        """Run until a signal, or until the replica fails before its first version."""
        config = make_config(
            self._service, replace(self._listen, tls_certificate=None, tls_key=None, tls_client_ca=None)
        )
        app: Any = config.loaded_app
        config.loaded_app = _ShownFirst(app, self._feed)
        server = _QuietServer(config)
        tasks = [asyncio.create_task(server.serve(sockets=[main_socket]))]
        interval_s = watchdog_interval_s()
        if interval_s is not None:
            tasks.append(asyncio.create_task(feed_watchdog(interval_s)))
        try:
            with handling_signals(self._end):
                while not self._should_end:
                    await self._update()
                    await asyncio.sleep(_UPDATE_EVERY_S)
                notify("STOPPING=1")
                await asyncio.to_thread(self._workers.stop, self._listen.grace_s)
        finally:
            await asyncio.to_thread(self._workers.stop, 0)
            server.should_exit = True
            for task in tasks[1:]:
                task.cancel()
            await tasks[0]

    def _end(self, *_signal: object) -> None:
        self._should_end = True

    async def _update(self) -> None:
        """Start and end workers, send them the current status, and report readiness to systemd."""
        summed = self._service.summed
        assert summed is not None  # noqa: S101 - this is the main process
        self._workers.watch(summed)
        replica = self._service.replica
        status = await asyncio.to_thread(replica.status)
        self._workers.send(PresentStatus(_without_open(status)))
        self._workers.send_bad_records(PresentBadRecords(tuple(replica.bad_records)))
        if status.state is State.FAILED:
            self._workers.send(ReplicaEnd(status.last_error or "the replica has failed"))
        elif status.state is State.STOPPED:
            self._workers.send(ReplicaEnd(None))
        self._should_end = self._should_end or has_failed_early(replica)
        if self._on_listening is not None and self._workers.are_serving:
            self._on_listening()
            self._on_listening = None
        if not self._has_reported_readiness and self._on_listening is None and is_ready(self._service):
            notify("READY=1")
            self._has_reported_readiness = True


class _QuietServer(uvicorn.Server):
    """A server that does not handle signals, because ``_MainProcess`` does."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Do nothing."""
        yield


class _ShownFirst:
    """A middleware that delays each answer of the main process until all workers have the newest version.

    Otherwise a client could get a newer version from the main process than its next request gets from a worker.
    """

    def __init__(self, app: ASGIApp, feed: VersionFeed) -> None:
        self._app = app
        self._feed = feed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""

        async def send_when_shown(message: Message) -> None:
            if message["type"] == "http.response.start":
                sequence = self._feed.sequence
                while self._feed.shown < sequence:
                    await asyncio.sleep(0.001)
            await send(message)

        await self._app(scope, receive, send_when_shown)


@contextmanager
def _main_socket(path: Path) -> Iterator[socket]:
    with socket(AF_UNIX, SOCK_STREAM) as opened:
        try:
            opened.bind(str(path))
        except OSError as error:
            raise ConfigurationError(
                f"opening the socket {path} for workers: {error.strerror or error}; set TMPDIR to a folder with a "
                "short name that can be written"
            ) from error
        yield opened


def _log_levels() -> dict[str, int]:
    """Return the levels of the service's loggers and the root logger, as far as they are set."""
    names = [
        "",
        *(name for name in logging.root.manager.loggerDict if name.split(".")[0] in {"kafka_replica", "uvicorn"}),
    ]
    return {name: level for name in names if (level := logging.getLogger(name or None).level)}


def _without_open(status: Status) -> Status:
    """Return a status whose positions have no open transactions, because these objects still change."""
    plain: dict[str, Any] = {name: Position(getattr(status, name)) for name in _POSITIONS}
    return replace(status, **plain)
