"""The text of a message in UTF-8, any part of which can be read."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryFile
from typing import IO, Final

from kafka_replica.data.files.messages.json.decoding import message_error

_PART: Final = 1 << 20
_UTF_8_MARK: Final = len(codecs.BOM_UTF8)


class MessageText:
    """The text of a message in UTF-8.

    Args:
        file: a seekable file in binary mode.
        start: the offset of the text in bytes, after a byte order mark.
    """

    def __init__(self, file: IO[bytes], start: int = 0) -> None:
        self._file = file
        self.start = start

    def read(self, offset: int, size: int) -> bytes:
        """Return ``size`` bytes that begin at an offset in the file, or fewer if the file ends earlier."""
        self._file.seek(offset)
        return self._file.read(size)


@contextmanager
def open_message_text(file: IO[bytes], where: str) -> Iterator[MessageText]:
    """Open the text of a message; a message in UTF-16 or UTF-32 is written to a temporary file in UTF-8.

    Args:
        file: the message, a seekable file in binary mode.
        where: the file, for errors.

    Raises:
        DatasetError: the text is not in the encoding that its first bytes show.
    """
    file.seek(0)
    encoding = json.detect_encoding(file.read(4))
    if encoding.startswith("utf-8"):
        yield MessageText(file, _UTF_8_MARK if encoding == "utf-8-sig" else 0)
        return
    with TemporaryFile() as copy:
        file.seek(0)
        decoder = codecs.getincrementaldecoder(encoding)()
        done = 0
        while part := file.read(_PART):
            copy.write(_decoded(decoder, part, done, where))
            done += len(part)
        copy.write(_decoded(decoder, b"", done, where))
        yield MessageText(copy)


def _decoded(decoder: codecs.IncrementalDecoder, part: bytes, done: int, where: str) -> bytes:
    """Return the next part of a text in UTF-8; an empty part is the end. ``done`` bytes were decoded before."""
    held = len(decoder.getstate()[0])
    try:
        return decoder.decode(part, final=not part).encode()
    except UnicodeDecodeError as error:
        offset = done - held + error.start
        raise message_error(
            where, f"the text is damaged: it is not {error.encoding}: {error.reason} (byte {offset})"
        ) from error
