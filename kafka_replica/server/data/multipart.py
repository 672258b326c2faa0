"""Forms with a file (``multipart/form-data``), read in pieces of any size.

Source: RFC 7578 (forms), RFC 2046, section 5.1.1 (boundaries).
"""

from __future__ import annotations

from collections.abc import Callable
from email.message import Message
from email.parser import BytesHeaderParser
from enum import Enum, auto
from typing import Final

from kafka_replica.data.errors import DatasetError

_MOST_HEADERS: Final = 8 * 1024
_MOST_FIELDS: Final = 64 * 1024
_FIELD_BYTES: Final = 100  # what a field takes in addition to its texts
_PADDING: Final = 1000

FILE_FIELDS: Final = ("uploadFile", "file")
"""The names of fields that hold the file even without a file name."""


class _State(Enum):
    CONTENT = auto()
    AFTER_BOUNDARY = auto()
    HEADERS = auto()
    END = auto()


def boundary_of(content_type: str) -> bytes | None:
    """Return the boundary that the header ``Content-Type`` of a form names; None if the request is not such a form.

    Raises:
        DatasetError: the header names no valid boundary.
    """
    message = Message()
    message["Content-Type"] = content_type
    if message.get_content_type() != "multipart/form-data":
        return None
    try:
        boundary = message.get_boundary()
    except (TypeError, ValueError) as error:  # by contradictory continuations of RFC 2231
        raise DatasetError("reading the form: its Content-Type has invalid parameters") from error
    if not boundary or len(boundary) > 200 or not boundary.isascii():
        raise DatasetError("reading the form: its Content-Type names no boundary")
    return boundary.encode()


class FormReader:
    """Reads a form: passes the file to a function and collects the text fields.

    Args:
        boundary: the boundary between parts.
        write: receives the content of the file in pieces.
    """

    def __init__(self, boundary: bytes, write: Callable[[bytes], object]) -> None:
        self._delimiter = b"\r\n--" + boundary
        self._buffer = bytearray(b"\r\n")  # so that a line break precedes the first delimiter, too
        self._state = _State.CONTENT
        self._write_file = write
        self._write: Callable[[bytes], object] = _ignore  # the data before the first part
        self._left = _MOST_FIELDS
        self.fields: list[tuple[str, bytearray]] = []
        """The names and contents of the text fields."""
        self.has_file = False

    def feed(self, data: bytes) -> None:
        """Read the next piece of the form.

        Raises:
            DatasetError: the form is malformed, has two files, or its text fields are too large.
        """
        self._buffer += data
        while self._step():
            pass

    def finish(self) -> None:
        """Check that the form is complete and has a file.

        Raises:
            DatasetError: the form is incomplete or has no file.
        """
        if self._state is not _State.END:
            raise DatasetError("reading the form: it ends before its last boundary")
        if not self.has_file:
            raise DatasetError(f"reading the form: it has no file; attach one as {FILE_FIELDS[0]}")

    def _step(self) -> bool:
        """Process the start of the buffer; return False if more data is needed."""
        if self._state is _State.CONTENT:
            return self._content()
        if self._state is _State.AFTER_BOUNDARY:
            return self._after_boundary()
        if self._state is _State.HEADERS:
            return self._headers()
        self._buffer.clear()  # the data after the last boundary
        return False

    def _content(self) -> bool:
        end = self._buffer.find(self._delimiter)
        size = max(0, len(self._buffer) - len(self._delimiter) + 1) if end < 0 else end
        if size:
            self._write(bytes(self._buffer[:size]))
        del self._buffer[: size if end < 0 else end + len(self._delimiter)]
        if end < 0:
            return False
        self._state = _State.AFTER_BOUNDARY
        return True

    def _after_boundary(self) -> bool:
        if self._buffer.startswith(b"--"):
            self._state = _State.END
            return True
        end = self._buffer.find(b"\r\n")
        if end > _PADDING or (end < 0 and len(self._buffer) > _PADDING) or self._buffer[: max(end, 0)].strip():
            raise DatasetError("reading the form: a boundary is followed by other text")
        if end < 0:
            return False
        del self._buffer[:end]  # the line break stays, so that even a part without headers has two line breaks
        self._state = _State.HEADERS
        return True

    def _headers(self) -> bool:
        end = self._buffer.find(b"\r\n\r\n")
        if max(end, len(self._buffer) if end < 0 else 0) > _MOST_HEADERS:
            raise DatasetError(f"reading the form: the headers of a part are larger than {_MOST_HEADERS} bytes")
        if end < 0:
            return False
        self._begin_part(BytesHeaderParser().parsebytes(bytes(self._buffer[2 : end + 4])))
        del self._buffer[: end + 4]
        self._state = _State.CONTENT
        return True

    def _begin_part(self, headers: Message) -> None:
        try:
            name = str(headers.get_param("name", "", header="content-disposition"))
            file_name = headers.get_filename()
        except (TypeError, ValueError) as error:  # by contradictory continuations of RFC 2231, or unknown encodings
            raise DatasetError("reading the form: the headers of a part have invalid parameters") from error
        if file_name is None and name not in FILE_FIELDS:
            content = bytearray()
            self.fields.append((name, content))
            self._charge(len(name) + _FIELD_BYTES)
            self._write = lambda piece: self._add(content, piece)
            return
        if self.has_file:
            raise DatasetError("reading the form: it has two files; send a request for each")
        self.has_file = True
        self._write = self._write_file

    def _add(self, content: bytearray, piece: bytes) -> None:
        self._charge(len(piece))
        content += piece

    def _charge(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            raise DatasetError(f"reading the form: its texts are larger than {_MOST_FIELDS} bytes")


def _ignore(_piece: bytes) -> None:
    """Do nothing."""
