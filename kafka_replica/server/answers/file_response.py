"""A response whose content may be a file, and that releases its resources after it was sent or sending failed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Final

from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from kafka_replica.server.data.content import Content

_PIECE: Final = 1 << 18


class FileResponse:
    """A response from memory or from a file.

    Args:
        content: the content; a file is sent in pieces.
        headers: additional headers.
        release: called once, after the response was sent or sending failed.
    """

    def __init__(self, content: Content, headers: Mapping[str, str], release: Callable[[], object]) -> None:
        self._content = content
        self._headers = {"Cache-Control": "no-store", **headers, **content.headers}
        self._release = release

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the response."""
        try:
            await self._response()(scope, receive, send)
        finally:
            self._release()

    def _response(self) -> Response:
        content = self._content
        if not isinstance(content.body, Path):
            return Response(content.body, content.status, self._headers, content.media_type)
        headers = {**self._headers, "Content-Length": str(content.size)}
        return StreamingResponse(_pieces(content.body), content.status, headers, content.media_type)


async def _pieces(path: Path) -> AsyncIterator[bytes]:
    with path.open("rb") as opened:
        while piece := await asyncio.to_thread(opened.read, _PIECE):
            yield piece
