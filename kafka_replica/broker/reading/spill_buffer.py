"""A buffer for the batches of open transactions: in memory up to a limit, in temporary files beyond it.

A transaction may be larger than the memory, and only its marker at the end shows whether it was aborted. There are
several files, each closed once it contains no batch, so that a transaction that stays open does not keep the space of
all later ones.
"""

from __future__ import annotations

import tempfile
from typing import Final

from kafka_replica.errors import StoreError

_FILE_BYTES: Final = 64 << 20  # the maximum size of a file with several batches
_FILES: Final = 16  # with more files than this, new ones may be larger: a process may open only some hundreds


class _SpillFile:
    """A temporary file, and the number of batches in it."""

    __slots__ = ("batches", "content", "size")

    def __init__(self) -> None:
        self.content = tempfile.TemporaryFile(prefix="kafka-replica-")  # noqa: SIM115
        self.batches = self.size = 0


class SpillHandle:
    """The location of a buffered batch, in memory or in a file. Deleting the handle frees the space."""

    __slots__ = ("_spill_buffer", "data", "file", "offset", "size")

    def __init__(
        self, spill_buffer: SpillBuffer, size: int, data: bytes, file: _SpillFile | None = None, offset: int = 0
    ) -> None:
        self._spill_buffer, self.size = spill_buffer, size
        self.data = data  # empty if the batch is in a file
        self.file, self.offset = file, offset

    def __del__(self) -> None:
        self._spill_buffer.dropped(self)


class SpillBuffer:
    """A buffer that keeps batches until their handles are deleted. Not thread-safe."""

    def __init__(self, max_memory_bytes: int = 48 << 20, *, check_crcs: bool = False) -> None:
        self.check_crcs = check_crcs
        self._max_memory_bytes = max_memory_bytes
        self._file: _SpillFile | None = None  # the file that gets the next batch, if it fits
        self.memory_bytes = 0
        self.file_bytes = 0
        """The total size of all files, in bytes."""

    def put(self, data: memoryview) -> SpillHandle:
        """Store a batch and return its handle.

        Raises:
            StoreError: a temporary file cannot be written.
        """
        size = len(data)
        if self.memory_bytes + size <= self._max_memory_bytes:
            self.memory_bytes += size
            return SpillHandle(self, size, bytes(data))
        try:
            file = self._file_for(size)
            offset = file.size
            file.content.seek(offset)
            file.content.write(data)
        except OSError as error:
            raise StoreError(
                f"keeping an open transaction in a temporary file: {error.strerror}; free some space in TMPDIR"
            ) from error
        file.batches += 1
        file.size += size
        self.file_bytes += size
        return SpillHandle(self, size, b"", file, offset)

    def _file_for(self, size: int) -> _SpillFile:
        """Return the file for a batch of this size; a batch larger than a file gets a file of its own."""
        file = self._file
        if file is None or (file.batches and file.size + size > max(_FILE_BYTES, self.file_bytes // _FILES)):
            file = self._file = _SpillFile()
        return file

    def get(self, handle: SpillHandle) -> bytes:
        """Return a batch.

        Raises:
            StoreError: the temporary file cannot be read.
        """
        if handle.file is None:
            return handle.data
        try:
            handle.file.content.seek(handle.offset)
            return handle.file.content.read(handle.size)
        except OSError as error:
            raise StoreError(f"reading an open transaction from its temporary file: {error.strerror}") from error

    def dropped(self, handle: SpillHandle) -> None:
        """Free the space of a batch; close its file once it contains no batch."""
        file = handle.file
        if file is None:
            self.memory_bytes -= handle.size
            return
        file.batches -= 1
        if file.batches == 0:
            self.file_bytes -= file.size
            if file is self._file:
                self._file = None
            file.content.close()
