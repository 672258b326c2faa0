"""The service as a process, and a bare ASGI response of uvicorn alone.

http_server service BOOTSTRAP TOPIC WORKERS   the service over a replica in memory
http_server bare FILE                         the bytes of a file with a content type, and 304 without a body
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

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


def bare(file: str) -> None:
    """Answer every request with the bytes, or with 304 if it has a header ``If-None-Match``."""
    body = Path(file).read_bytes()
    size = str(len(body)).encode()

    async def app(scope: Any, _receive: Any, send: Any) -> None:
        if any(name == b"if-none-match" for name, _ in scope["headers"]):
            await send({"type": "http.response.start", "status": 304, "headers": []})
            await send({"type": "http.response.body", "body": b""})
            return
        headers = [(b"content-type", b"application/json"), (b"content-length", size)]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    listen = ListenSettings(port=0)
    config = uvicorn.Config(
        app, http="h11", ws="none", lifespan="off", log_config=None, access_log=False, proxy_headers=False,
        server_header=False,
    )  # fmt: skip
    with open_socket(listen) as opened:
        tell(address=address_of(opened, listen))
        asyncio.run(uvicorn.Server(config).serve(sockets=[opened]))


def main() -> None:
    """Run the chosen server."""
    programs: dict[str, Callable[..., None]] = {"service": service, "bare": bare}
    programs[sys.argv[1]](*sys.argv[2:])


if __name__ == "__main__":
    main()
