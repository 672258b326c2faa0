"""Events of an XML file, read in chunks with bounded memory; hostile files are refused.

Structures in SDMX-ML are read with lxml, but data with Expat: it builds no tree that must be cleared, it reports the
line of an element in files of any length, and it is in the standard library.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import IO, Any, Final, TypeAlias
from xml.parsers import expat

from kafka_replica.common.garbage_collector import collector_paused
from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files.messages.ml.declared_encoding import chunks_of

Start: TypeAlias = Callable[[str, dict[str, str]], None]
End: TypeAlias = Callable[[str], None]

_CHUNK: Final = 1 << 16
_MOST_PENDING: Final = 4 << 20
_MOST_NAMES: Final = 100_000
_MOST_PREFIXES: Final = 10_000
_DEEPEST: Final = 1_000


class StrayTextError(DatasetError):
    """A data set contains text outside of values; the error does not name the line."""


class Events:
    """The parser of a file. Its handlers are called with names in the form ``namespace}name``.

    Args:
        file: the file.
        locates_text: whether each text is examined when it is parsed, so that an error can name its line; otherwise the
            texts of a chunk are examined together, which is faster.

    Attributes:
        parser: Expat's parser. The line of each row is read directly from its attribute, because a method call would
            cost as much as the rest of an event.
        skipped_lines: the number of blank lines before the XML, which are not passed to the parser.
        refuse_text: a handler of texts where only whitespace is allowed.
    """

    def __init__(self, file: IO[bytes], *, locates_text: bool = False) -> None:
        self._file = file
        self._names: dict[str, str] = {}
        self._prefixes: set[str | None] = set()
        self.skipped_lines = 0
        self._skipped = 0
        self._check: Callable[[str], object] = str
        self._handlers: tuple[Any, Any, Any] = (None, None, None)
        self.parser = expat.ParserCreate(namespace_separator="}", intern=self._names)
        # Without a buffer, the current line is that of the text, and not that of the element after the text.
        self.parser.buffer_text = not locates_text
        # Calling a Python method would cost as much as the event of an element; the texts between elements repeat.
        self._texts: set[str] = set()
        self.refuse_text: Callable[[str], None] = self._refuse_text if locates_text else self._texts.add
        self.parser.StartNamespaceDeclHandler = self._prefix
        self.parser.StartDoctypeDeclHandler = _refuse_dtd
        self.parser.EntityDeclHandler = _refuse_dtd

    @property
    def line(self) -> int:
        """Return the line of the current event, from 1."""
        return self.parser.CurrentLineNumber + self.skipped_lines

    def handle(self, start: Start, end: End, text: Callable[[str], None] | None = None) -> None:
        """Set the handlers of events from now on."""
        self.parser.StartElementHandler, self.parser.EndElementHandler = start, end
        self.parser.CharacterDataHandler = text

    def hand_over(self, start: Start, end: End, text: Callable[[str], None] | None = None) -> None:
        """Set other handlers until :meth:`hand_back`."""
        parser = self.parser
        self._handlers = (parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler)
        self.handle(start, end, text)

    def hand_back(self) -> None:
        """Restore the handlers that were set before :meth:`hand_over`."""
        self.handle(*self._handlers)

    def skip(self, check: Callable[[str], object] = str) -> None:
        """Skip the element that has just started, with its content; each element within it is checked by name."""
        self._skipped, self._check = 1, check
        self.hand_over(self._skip_start, self._skip_end)

    def chunks(self) -> Iterator[None]:
        """Parse the file; yield after each chunk.

        Raises:
            DatasetError: the file is not XML, has a document type or an unknown encoding, or exceeds the limits for
                data messages.
        """
        fed, chunks = 0, chunks_of(self._file, _CHUNK)
        try:
            chunk = self._begun(next(chunks, b""))
            while chunk:
                fed += len(chunk)
                # Garbage collection is paused, because it would traverse the many rows of a chunk several times.
                with collector_paused():
                    self.parser.Parse(chunk, False)
                self._check_size(fed)
                self._check_texts()
                yield
                chunk = next(chunks, b"")
            self.parser.Parse(b"", True)
            self._check_texts()  # Expat may keep the events of the last bytes until it knows that they are the last
        except expat.ExpatError as error:
            raise DatasetError(f"it is not well-formed XML: {error}") from error
        except (ValueError, LookupError) as error:
            raise DatasetError(f"its declared encoding cannot be read ({error}); convert it to UTF-8") from error
        yield

    def _begun(self, chunk: bytes) -> bytes:
        """Return the first chunk without blank lines, which some services write before XML."""
        begun = chunk.lstrip(b" \t\r\n")
        self.skipped_lines = chunk.count(b"\n") - begun.count(b"\n")
        return begun

    def _check_size(self, fed: int) -> None:
        if fed - self.parser.CurrentByteIndex > _MOST_PENDING:
            raise DatasetError(f"line {self.line}: an element or comment has more than {_MOST_PENDING:,} bytes")
        if len(self._names) > _MOST_NAMES:
            raise DatasetError(f"line {self.line}: there are more than {_MOST_NAMES:,} different names")

    def _check_texts(self) -> None:
        for text in self._texts:
            if not text.isspace():
                raise StrayTextError(_stray(text))
        self._texts.clear()

    def _refuse_text(self, text: str) -> None:
        if not text.isspace():
            raise DatasetError(f"line {self.line}: {_stray(text)}")

    def _prefix(self, prefix: str | None, uri: str | None) -> None:
        del uri
        self._prefixes.add(prefix)
        if len(self._prefixes) > _MOST_PREFIXES:
            raise DatasetError(f"line {self.line}: there are more than {_MOST_PREFIXES:,} prefixes of namespaces")

    def _skip_start(self, name: str, attributes: Mapping[str, str]) -> None:
        del attributes
        self._check(name)
        self._skipped += 1
        if self._skipped > _DEEPEST:
            raise DatasetError(f"line {self.line}: more than {_DEEPEST:,} elements are nested")

    def _skip_end(self, name: str) -> None:
        del name
        self._skipped -= 1
        if not self._skipped:
            self.hand_back()


def _stray(text: str) -> str:
    return (
        f"the text {text.strip()[:40]!r} is within an element of a data set, where SDMX-ML has no text, so it "
        "would be lost; write values as XML attributes, or remove the text"
    )


def _refuse_dtd(*_: object) -> None:
    raise DatasetError("it has a document type declaration, which is not allowed, as it may contain entities")
