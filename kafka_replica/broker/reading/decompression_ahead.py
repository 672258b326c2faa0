"""Decompress the batches of a long answer in a second thread, while the reader parses earlier batches.

A thread that decompresses does not need the interpreter lock, but it needs it after each call, and the thread that
parses releases the lock only now and then. So adjacent batches are decompressed by one call: frames of zstd and lz4 can
be joined, and are decompressed to the joined content. A frame with a random separator follows each batch, so that a
batch with another number of records than its head says cannot take records of the next one.

Source: RFC 8878, section 3 (Zstandard: "independent frames ... can be concatenated"); LZ4 frame format, "Frame
Concatenation".
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Final, Protocol, TypeAlias

from kafka_replica.broker.reading.decompression import codec_of
from kafka_replica.broker.reading.python_parser import HEAD_BYTES
from kafka_replica.broker.wire.answer_buffers import AnswerBuffers
from kafka_replica.common.codecs import CODECS, MoreBytesError, decompress_to_buffer
from kafka_replica.common.compiled import PARSER, CompiledParser

_NAMES: Final = {3: "lz4", 4: "zstd"}  # by Kafka's number
_SEPARATOR: Final = os.urandom(16)
_SEPARATORS: Final = {number: bytes(CODECS[name].compress(_SEPARATOR)) for number, name in _NAMES.items()}
_MIN_BATCHES: Final = 16  # fewer batches are decompressed where they are parsed
_MAX_BATCHES: Final = 32
_MAX_BYTES: Final = 1 << 20  # compressed
_MAX_CONTENT_BYTES: Final = 32 << 20  # batches with more content are decompressed where they are parsed
_FIRST_RATIO, _MARGIN = 4.0, 1.25


class CompressedContent(Protocol):
    """The content of a batch that may be decompressed together with others."""

    ahead: DecompressedTogether | None


Compressed: TypeAlias = tuple[CompressedContent, memoryview, int]
"""The content of a compressed batch, the batch with its head, and its number of records."""


class DecompressedTogether:
    """Adjacent batches with the same codec. Only the reading thread uses it.

    Args:
        decompress: returns the content of the batches, by the identity of each batch.
        thread: runs the function.
    """

    __slots__ = ("_contents", "_decompress", "_future", "_thread", "later")

    def __init__(self, decompress: Callable[[], dict[int, memoryview]], thread: ThreadPoolExecutor) -> None:
        self._decompress: Callable[[], dict[int, memoryview]] | None = decompress
        self._thread = thread
        self._future: Future[dict[int, memoryview]] | None = None
        self._contents: dict[int, memoryview] | None = None
        self.later: DecompressedTogether | None = None
        """The batches after these, which are decompressed while these are parsed."""

    def start(self) -> None:
        """Start to decompress."""
        decompress, self._decompress = self._decompress, None  # it refers to the answer
        if decompress is not None:
            with suppress(RuntimeError):  # the reader is closed
                self._future = self._thread.submit(decompress)

    def take(self, batch: memoryview | bytes) -> memoryview | None:
        """Return the content of a batch, once; None if it has to be decompressed alone, which reports errors."""
        if self._contents is None:
            self.start()
            if self.later is not None:
                self.later.start()
                self.later = None
            future, self._future = self._future, None
            self._contents = {} if future is None else future.result()
        return self._contents.pop(id(batch), None)


class Decompressor:
    """Decompresses batches ahead in a thread, which is started when it is needed.

    Args:
        parser: the compiled parser; without it, each batch is decompressed where it is parsed.
    """

    def __init__(self, parser: CompiledParser | None = PARSER) -> None:
        self._parser = parser
        self._thread: ThreadPoolExecutor | None = None
        self._buffers = AnswerBuffers()  # only the thread takes buffers and uses the ratio
        self._ratio = _FIRST_RATIO

    def plan(self, compressed: Sequence[Compressed]) -> None:
        """Group the batches of an answer, to decompress each group in one call; only if there are enough batches.

        Args:
            compressed: the compressed batches of a partition, in their order.
        """
        if self._parser is None or len(compressed) < _MIN_BATCHES:
            self._buffers = AnswerBuffers()  # not emptied, because the thread may be taking one of the buffers
            return
        before: DecompressedTogether | None = None
        for number, run in _runs(compressed):
            if number not in _NAMES or len(run) < _MIN_BATCHES:
                continue
            if self._thread is None:
                self._thread = ThreadPoolExecutor(1, "kafka-replica-decompression")
            together = DecompressedTogether(partial(self._decompress, number, run, self._parser), self._thread)
            for content, _, _ in run:
                content.ahead = together
            if before is not None:
                before.later = together
            before = together

    def close(self) -> None:
        """End the thread, after what it was given to do, which batches may still wait for."""
        if self._thread is not None:
            self._thread.shutdown(wait=False)

    def _decompress(self, number: int, run: Sequence[Compressed], parser: CompiledParser) -> dict[int, memoryview]:
        """Return the content of batches, by the identity of each batch; nothing if any of them is damaged."""
        joined = b"".join(part for _, batch, _ in run for part in (batch[HEAD_BYTES:], _SEPARATORS[number]))
        try:
            content = self._content(_NAMES[number], joined)
            ends = parser.record_ends(content, [count for _, _, count in run], _SEPARATOR)
        except ValueError:
            return {}  # each batch is decompressed alone then, which shows which one is damaged
        starts = [0, *(end + len(_SEPARATOR) for end in ends)]
        return {id(batch): content[start:end] for (_, batch, _), start, end in zip(run, starts, ends, strict=False)}

    def _content(self, name: str, joined: bytes) -> memoryview:
        """Return joined frames decompressed, in a buffer that is reused; batches of a topic compress similarly well."""
        size = min(int(len(joined) * self._ratio), _MAX_CONTENT_BYTES)
        while True:
            buffer = self._buffers.take(size)
            try:
                content = buffer[: decompress_to_buffer(name, joined, buffer)]
            except MoreBytesError:
                if size == _MAX_CONTENT_BYTES:
                    raise
                size = min(2 * size, _MAX_CONTENT_BYTES)
            else:
                self._ratio = max(_FIRST_RATIO, len(content) / len(joined) * _MARGIN)
                return content


def _runs(compressed: Sequence[Compressed]) -> Iterator[tuple[int, Sequence[Compressed]]]:
    """Yield runs of adjacent batches with the same codec, and the number of the codec."""
    at, size = 0, 0
    for place, (_, batch, _) in enumerate(compressed):
        size += len(batch)
        first = codec_of(compressed[at][1])
        if codec_of(batch) != first or place - at >= _MAX_BATCHES or size > _MAX_BYTES:
            yield first, compressed[at:place]
            at, size = place, len(batch)
    yield codec_of(compressed[at][1]), compressed[at:]
