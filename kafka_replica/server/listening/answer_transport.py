"""A transport that sends an answer in few writes, and that knows what the client has not accepted."""

from __future__ import annotations

from asyncio import AbstractEventLoop, Transport
from collections.abc import Callable
from typing import Any, Final

_HEAD: Final = b"HTTP/"
_MAX_JOINED_BYTES: Final = 65_536
"""The maximum size of data that is joined; copying more takes longer than a second packet."""


class AnswerTransport:
    """A transport that sends the head of an answer together with its body, and that reports each write.

    uvicorn writes them separately, which costs a call of the system and a packet more. A head whose body does not
    follow at once is sent in the next turn of the event loop.

    The transport also knows how many bytes the client has not accepted: asyncio itself reports only buffers above 64
    KiB, and waits without limit until the client has accepted the rest.
    """

    def __init__(self, transport: Transport, loop: AbstractEventLoop, wrote: Callable[[int], object]) -> None:
        self._transport = transport
        self._loop = loop
        self._wrote = wrote
        self._head = b""
        # With TLS, the connection below has a buffer of its own, which asyncio does not count, and no public name.
        self._below: Transport | None = getattr(getattr(transport, "_ssl_protocol", None), "_transport", None)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Write data; keep a head until the next write, at most until the next turn of the event loop."""
        if self._head:
            self.write_answer(b"", data)
        elif data.startswith(_HEAD) and len(data) <= _MAX_JOINED_BYTES:  # a part of a body may begin like this, too
            self._head = data
            self._loop.call_soon(self._send_head)
        elif data:
            self._send(data)

    def write_answer(self, head: bytes, body: bytes) -> None:
        """Write a whole answer, behind the head that is kept, if there is one."""
        head, self._head = self._head + head, b""
        if len(body) > _MAX_JOINED_BYTES:
            self._send(head)
            self._send(body)
        else:
            self._send(head + body)

    def _send(self, data: bytes) -> None:
        self._transport.write(data)
        self._wrote(len(data))

    def _send_head(self) -> None:
        head, self._head = self._head, b""
        if head and not self._transport.is_closing():  # the client may have left
            self._send(head)

    def close(self) -> None:
        """Close the connection after the rest was sent."""
        self._send_head()
        if not self._transport.is_closing():  # with TLS, closing it again would make its buffer unknown
            self._transport.close()

    def get_write_buffer_size(self) -> int:
        """Return the number of reported bytes that were not handed over to the operating system yet."""
        below = self._below
        return self._transport.get_write_buffer_size() + (0 if below is None else below.get_write_buffer_size())

    def abort(self) -> None:
        """Close the connection without sending the rest."""
        self._head = b""
        (self._below or self._transport).abort()
