"""The service as a process, and a bare ASGI response of uvicorn alone.

http_server service BOOTSTRAP TOPIC WORKERS   the service over a replica in memory
http_server bare FOLDER PARSER                the bytes in a folder: ``body``, and the headers ``200`` and ``304``;
                                              the parser of requests is httptools or h11
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import uvicorn

from benchmarks.programs.common import tell
from kafka_replica import Replica
from kafka_replica.server import ListenSettings, serve
from kafka_replica.server.listening.sockets import address_of, open_socket


def service(bootstrap: str, topic: str, workers: str) -> None:
    """Serve until the process gets SIGTERM."""
    replica = Replica({"bootstrap.servers": bootstrap}, topic)
    replica.start()
    listen = ListenSettings(port=0, workers=int(workers))
    serve(replica, listen=listen, on_listening=lambda address: tell(address=address))
    replica.close()


def bare(folder: str, parser: Literal["h11", "httptools"]) -> None:
    """Answer with the body, or with 304 if a request has a header ``If-None-Match``."""
    body = Path(folder, "body").read_bytes()
    headers = {status: _headers(Path(folder, str(status)).read_bytes()) for status in (200, 304)}

    async def app(scope: Any, _receive: Any, send: Any) -> None:
        status = 304 if any(name == b"if-none-match" for name, _ in scope["headers"]) else 200
        await send({"type": "http.response.start", "status": status, "headers": headers[status]})
        await send({"type": "http.response.body", "body": body if status == 200 else b""})

    listen = ListenSettings(port=0)
    config = uvicorn.Config(
        app, http=parser, ws="none", lifespan="off", log_config=None, access_log=False, proxy_headers=False,
        server_header=False,
    )  # fmt: skip
    with open_socket(listen) as opened:
        tell(address=address_of(opened, listen))
        asyncio.run(uvicorn.Server(config).serve(sockets=[opened]))


def _headers(lines: bytes) -> list[tuple[bytes, bytes]]:
    """Return the headers of an answer, except for the date, which the server adds itself."""
    pairs = (line.split(b": ", 1) for line in lines.splitlines())
    return [(name.lower(), value) for name, value in pairs if name.lower() != b"date"]


def main() -> None:
    """Run the chosen server."""
    programs: dict[str, Callable[..., None]] = {"service": service, "bare": bare}
    programs[sys.argv[1]](*sys.argv[2:])


if __name__ == "__main__":
    main()
