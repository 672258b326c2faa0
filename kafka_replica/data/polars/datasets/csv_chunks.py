"""Read CSV files in chunks of whole records, as UTF-8, in memory that does not depend on the size of the file."""

from __future__ import annotations

import codecs
import re
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files.decompression import DecompressedContent, GivenContent
from kafka_replica.data.files.other_formats import encoding_in_words
from kafka_replica.data.files.record_limit import LONGEST_RECORD_BYTES
from kafka_replica.data.polars.datasets.csv_quotes import (
    QUOTE,
    is_regular,
    last_opened,
    outline_of,
    without_stray_quotes,
)
from kafka_replica.errors import ConfigurationError

CHUNK_BYTES: Final = 16 << 20
MOST_LINES: Final = 200_000
"""The maximum number of lines in a chunk, because processing a row needs memory that does not depend on its length."""
_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_NO_ENCODINGS_OF_FILES: Final = {"idna", "punycode", "undefined", "unicode_escape", "raw_unicode_escape"}
_HEAD: Final = 4
_LOOKED_AT: Final = 1 << 10
"""The number of bytes in which NUL characters show that a file is in another encoding."""
_LINE_ENDS: Final = b"\r\n"
WHITESPACE: Final = bytes(range(33))
"""The characters of blank lines, which Spark ignores, too; in rows after the header, a separator is not one of them."""
_BLANK_LINES: Final = re.compile(rb"[\x00- ]*\n")


class Chunk(NamedTuple):
    """Whole records of a file.

    Attributes:
        data: the records in UTF-8, with their line ends.
        first_line: the line of the file on which the first record begins, counted from 1.
        outline: the records without the content of quoted texts and without stray quotes; see ``outline_of`` and
            ``without_stray_quotes``.
        has_strays: whether there are stray quotes, which are letters of a cell.
    """

    data: bytes
    first_line: int
    outline: bytes
    has_strays: bool = False


class CsvChunks:
    """The header line of a CSV file, and its records in chunks, which can be read several times.

    The encoding is that of the byte order mark, else the given encoding, else UTF-8. Line breaks in cells that begin
    with a double quote do not end a record.

    Attributes:
        encoding: Python's name of the encoding; ``utf-8-sig`` and ``utf-16`` mean that there is a byte order mark.
        header: the first line that does not consist of whitespace, with its line end.
    """

    def __init__(
        self,
        path: Path,
        encoding: str | None,
        content: GivenContent | None = None,
        size: int = CHUNK_BYTES,
        folder: Path | None = None,
    ) -> None:
        """Read the header.

        Args:
            path: the file, which may be compressed.
            encoding: the encoding of a file without a byte order mark; None means UTF-8.
            content: the content of the file, if the caller has it already.
            size: the approximate size of chunks in bytes; a chunk has at most 200,000 lines, or one record.
            folder: an existing folder for temporary files; None means the system's.

        Raises:
            UsageError: the file cannot be opened.
            ConfigurationError: the encoding is unknown.
            DatasetError: the file is not in that encoding.
        """
        self._path, self._size = path, size
        self._parts = DecompressedContent(str(path), content, size, folder)
        head = b""
        for part in self._parts:
            head += part
            if len(head) >= _HEAD:
                break
        marked = next((name for mark, name in _MARKS if head.startswith(mark)), None)
        self.encoding = marked or encoding or "utf-8"
        if not _is_text_encoding(self.encoding):
            raise ConfigurationError(f"reading {path}: Python has no encoding {self.encoding!r}")
        self._is_utf8 = codecs.lookup(self.encoding).name in {"utf-8", "utf-8-sig"}
        first = next(self._records(None), Chunk(b"", 1, b""))
        self.header = first.data.partition(b"\n")[0].decode() + "\n" if first.data else ""
        self._begin_line = first.first_line

    @property
    def done(self) -> int:
        """Return the number of bytes of the file read so far, before decompression."""
        return self._parts.done

    def records(self, separator: str) -> Iterator[Chunk]:
        """Yield the records after the header.

        Args:
            separator: the separator of cells.

        Raises:
            UsageError: the file cannot be read.
            DatasetError: the file is not in its encoding, a record is longer than 64 MiB, or a quote is not closed.
        """
        return self._records(separator.encode())

    def _records(self, mark: bytes | None) -> Iterator[Chunk]:
        """Yield the records after the header; without a separator, only the header."""
        line, is_first, rest = 1, True, b""
        for text in self._texts():
            following = text
            if is_first:
                data = rest + text
                blank = _BLANK_LINES.match(data)
                stripped = data if blank is None else data[blank.end() :]
                line += data.count(b"\n", 0, len(data) - len(stripped))
                end = stripped.find(b"\n") + 1
                if not end:
                    rest = self._bounded(stripped, line)
                    continue
                is_first = False
                if mark is None:
                    yield Chunk(stripped[:end], line, b"")
                    return
                rest, following, line = b"", stripped[end:], line + 1
            rest, line = yield from _whole_chunks(rest, following, line, mark or b"")
            rest = self._bounded(rest, line)
        rest = rest.rstrip(_LINE_ENDS)
        if mark is None and rest.strip(WHITESPACE):
            yield Chunk(rest + b"\n", line, b"")
        elif mark is not None and rest and not is_first:
            yield self._last(rest + b"\n", line, mark)

    def _last(self, data: bytes, line: int, mark: bytes) -> Chunk:
        """Return the last chunk, whose last record has no line end in the file."""
        regular = without_stray_quotes(data, mark)
        if regular.count(QUOTE) % 2:
            line += data.count(b"\n", 0, last_opened(data, mark))
            raise DatasetError(
                f"reading {self._path}: line {line}: is a quote not closed? A cell begins with one and does not end; "
                'add the quote at its end, or write the cell in quotes, with "" for each "'
            )
        return Chunk(data, line, outline_of(regular), regular is not data)

    def _bounded(self, rest: bytes, line: int) -> bytes:
        if len(rest) > max(LONGEST_RECORD_BYTES, 2 * self._size):
            raise DatasetError(
                f"reading {self._path}: the row that begins on line {line} does not end within "
                f"{LONGEST_RECORD_BYTES >> 20} MiB; is a quote not closed?"
            )
        return rest

    def _texts(self) -> Iterator[bytes]:
        """Yield the content as UTF-8, without a byte order mark."""
        decoder = codecs.getincrementaldecoder(self.encoding)()
        fed = 0
        for part in self._parts:
            held = len(decoder.getstate()[0])
            yield self._decoded(decoder, part, fed - held)
            fed += len(part)
        yield self._decoded(decoder, b"", fed - len(decoder.getstate()[0]), is_last=True)

    def _decoded(self, decoder: codecs.IncrementalDecoder, part: bytes, begin: int, *, is_last: bool = False) -> bytes:
        if self._is_utf8 and part.isascii() and decoder.getstate() in {(b"", 0), (b"", 1)} and begin:
            return part  # because ASCII is already UTF-8
        try:
            return decoder.decode(part, is_last).encode()
        except UnicodeError as error:
            start = error.start if isinstance(error, UnicodeDecodeError) else 0
            advice = "give its encoding (encoding=, or --encoding), for example cp1252"
            if b"\0" in part[:_LOOKED_AT] and not begin:
                advice = encoding_in_words(part[:_LOOKED_AT].decode("latin-1"))
            raise DatasetError(
                f"reading {self._path}: it is not {self.encoding}, see byte {begin + start}; {advice}"
            ) from error


def _is_text_encoding(name: str) -> bool:
    """Return whether Python has an encoding of files with a name; some of its codecs are for other purposes."""
    try:
        found = codecs.lookup(name)
    except (LookupError, ValueError):
        return False
    if found.name.replace("-", "_") in _NO_ENCODINGS_OF_FILES:
        return False
    return bool(getattr(found, "_is_text_encoding", True)) and found.incrementaldecoder is not None


def _whole_chunks(
    rest: bytes, text: bytes, line: int, mark: bytes
) -> Generator[Chunk, None, tuple[bytes, int]]:  # fmt: skip
    """Yield the whole records of two consecutive texts; return what follows, and its line.

    The records are first found by pairs of quotes, which is fast. The outline, which is needed anyway, shows whether
    that was right.
    """
    whole, following = _whole_records(rest, text)
    at = 0
    for part, lines in _parts(whole):
        outline = outline_of(part)
        if outline is not part and not is_regular(outline, mark):
            break
        yield Chunk(part, line, outline)
        at, line = at + len(part), line + lines
    if at == len(whole) and b"\n" not in following:
        return following, line
    data = whole[at:] + following
    regular = without_stray_quotes(data, mark)
    end = _end_of_records(regular)
    at = 0
    for part, lines in _parts(regular[:end]):
        original = data[at : at + len(part)]
        yield Chunk(original, line, outline_of(part), part != original)
        at, line = at + len(part), line + lines
    return data[end:], line


def _whole_records(rest: bytes, text: bytes) -> tuple[bytes, bytes]:
    """Return the whole records of two consecutive texts, and what follows, if there are no stray quotes."""
    end = text.rfind(b"\n") + 1
    if end and QUOTE not in text and QUOTE not in rest:
        return b"".join((rest, memoryview(text)[:end])), text[end:]  # a long text is copied only once
    data = rest + text
    end = _end_of_records(data)
    return data[:end], data[end:]


def _parts(data: bytes) -> Iterator[tuple[bytes, int]]:
    """Yield whole records in parts of at most ``MOST_LINES`` lines, and their numbers; one record may have more.

    The data has no stray quotes.
    """
    if not data:
        return
    half, end, lines = len(data) // 2, 0, data.count(b"\n")
    if lines > MOST_LINES:
        end = _end_of_records(data[:half]) or _end_of_record(data, half)
    if end in {0, len(data)}:
        yield data, lines
        return
    yield from _parts(data[:end])
    yield from _parts(data[end:])


def _end_of_record(data: bytes, at: int) -> int:
    """Return the end of the record that contains a position, after a line break that is not within double quotes."""
    quotes = data.count(QUOTE, 0, at)
    while (end := data.find(b"\n", at) + 1) > 0:
        quotes += data.count(QUOTE, at, end)
        if not quotes % 2:
            return end
        at = end
    return len(data)


def _end_of_records(data: bytes) -> int:
    """Return the position after the last line break that is not within double quotes; 0 if there is none."""
    end = data.rfind(b"\n") + 1
    quotes = data.count(QUOTE, 0, end) if QUOTE in data else 0
    while end and quotes % 2:
        earlier = data.rfind(b"\n", 0, end - 1) + 1
        quotes -= data.count(QUOTE, earlier, end)
        end = earlier
    return end
