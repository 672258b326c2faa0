"""Tools for tests of the whole server: in a thread over a fake topic, and as a process."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

from kafka_replica import Replica
from kafka_replica.history import VersionHistory
from kafka_replica.server import ListenSettings, ServerSettings
from kafka_replica.server.app import Service
from kafka_replica.server.listening.sockets import address_of, open_socket
from kafka_replica.server.routes.sdmx import Answer
from kafka_replica.server.running.http_server import Server, make_config
from support import plain_http
from support.server.app_tools import stand_in
from support.waiting import wait_until


@contextmanager
def running(
    replica: Replica,
    *,
    settings: ServerSettings | None = None,
    answer: Answer | None = stand_in,
    history: VersionHistory | None = None,
    **listen: Any,
) -> Iterator[tuple[str, Server]]:
    """Run a server in a thread; yield its address, and the server."""
    limits = ListenSettings(**{"port": 0, "grace_s": 5, **listen})
    form_timeout_s = limits.header_timeout_s
    service = Service(
        replica, settings or ServerSettings(), answer=answer, history=history, form_timeout_s=form_timeout_s
    )
    listening = threading.Event()
    with open_socket(limits) as opened:
        server = Server(make_config(service, limits), service, listening.set)
        thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[opened])))
        thread.start()
        try:
            assert listening.wait(30)
            yield address_of(opened, limits), server
        finally:
            server.should_exit = True
            thread.join(30)
            assert not thread.is_alive()


def connected(address: str) -> socket.socket:
    """Return a connection to a server."""
    parts = urlsplit(address)
    assert parts.hostname is not None
    return socket.create_connection((parts.hostname, parts.port or 0), 30)


def received(connection: socket.socket) -> bytes:
    """Return all data until the server ends the connection."""
    data = b""
    try:
        while chunk := connection.recv(65536):
            data += chunk
    except ConnectionResetError:
        pass
    return data


def until_ready(server: ServerProcess) -> None:
    """Wait until a service has its first version."""
    wait_until(lambda: plain_http.get(f"{server.address}/health/ready").status_code == 200)


class ServerProcess:
    """``kafka-replica serve`` as a process."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.log = folder / "serve.log"
        program = str(Path(sys.executable).with_name("kafka-replica"))
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [program, "serve", "--json", "--port", "0", *arguments], stdout=subprocess.PIPE, stderr=log, text=True
            )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, self.log.read_text()
        self.address: str = json.loads(line)["address"]

    def wait(self, timeout_s: float = 60) -> int:
        """Wait for the end; return the exit status."""
        return self.process.wait(timeout_s)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(30)
        assert self.process.stdout is not None
        self.process.stdout.close()
