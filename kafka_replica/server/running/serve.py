"""The function that runs the service, in one process or with several workers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from kafka_replica.errors import ConfigurationError
from kafka_replica.replica import Replica
from kafka_replica.server.app import Service
from kafka_replica.server.listening.open_files import raise_limit
from kafka_replica.server.listening.sockets import address_of, default_hosts, open_socket
from kafka_replica.server.routes.sdmx import Answer
from kafka_replica.server.running.http_server import Server, make_config, raise_failure
from kafka_replica.server.running.workers.main_process import serve_with_workers
from kafka_replica.server.settings import ListenSettings, ServerSettings

if TYPE_CHECKING:
    from kafka_replica.history import VersionHistory


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

    At the end, open streams are closed, and requests get ``grace_s`` seconds to finish; the replica stays open. Signals
    are handled only if the function is called in the main thread. The process's soft limit of open files is raised to
    the hard limit, at most to 65,536.

    Args:
        replica: the replica, which the caller starts and closes.
        settings: the settings of the app.
        listen: the settings of the server.
        topic: as for ``create_app``.
        answer: as for ``create_app``.
        history: as for ``create_app``.
        on_listening: called with the server's URL, such as ``http://127.0.0.1:8080``, once it accepts connections.

    Raises:
        ConfigurationError: a file cannot be read, or the address cannot be opened.
        KafkaReplicaError: the error with which the replica failed, even if it failed after its first version.
    """
    settings, listen = settings or ServerSettings(), listen or ListenSettings()
    raise_limit(listen.max_connections)
    if not settings.allowed_hosts:
        settings = replace(settings, allowed_hosts=default_hosts(listen.host))
    if listen.workers > 1:
        if answer is not None:
            raise ConfigurationError(
                "answer= is possible with one worker only: other processes do not have the function"
            )
        serve_with_workers(replica, settings, listen, topic=topic, history=history, on_listening=on_listening)
        return
    with open_socket(listen) as opened:
        address = address_of(opened, listen)
        service = Service(replica, settings, topic, answer, history, form_timeout_s=listen.header_timeout_s)
        try:
            server = Server(make_config(service, listen), service, lambda: on_listening(address))
            asyncio.run(server.serve(sockets=[opened]))
        finally:
            asyncio.run(service.close())
    raise_failure(replica)
