"""A buffer for the batches of open transactions: in memory up to a limit, in a temporary file beyond it.

A transaction may be larger than the memory, and only its marker at the end shows whether it was aborted.
"""

from __future__ import annotations

import tempfile
from typing import IO

from kafka_replica.errors import StoreError


class SpillHandle:
    """The location of a buffered batch, in memory or in the file. Deleting the handle frees the space."""

    __slots__ = ("_spill_buffer", "data", "offset", "size")

    def __init__(self, spill_buffer: SpillBuffer, data: bytes | None, offset: int, size: int) -> None:
        self._spill_buffer, self.data, self.offset, self.size = spill_buffer, data, offset, size

    def __del__(self) -> None:
        self._spill_buffer.dropped(self)


class SpillBuffer:
    """A buffer that keeps batches until their handles are deleted. Not thread-safe."""

    def __init__(self, max_memory_bytes: int = 48 << 20, *, check_crcs: bool = False) -> None:
        self.check_crcs = check_crcs
        self._max_memory_bytes = max_memory_bytes
        self._file: IO[bytes] | None = None
        self._in_file = 0  # number of batches
        self.memory_bytes = 0
        self.file_bytes = 0

    def put(self, data: memoryview) -> SpillHandle:
        """Store a batch and return its handle.

        Raises:
            StoreError: the temporary file cannot be written.
        """
        size = len(data)
        if self.memory_bytes + size <= self._max_memory_bytes:
            self.memory_bytes += size
            return SpillHandle(self, bytes(data), 0, size)
        try:
            file = self._file = self._file or tempfile.TemporaryFile(prefix="kafka-replica-")  # noqa: SIM115
            offset = self.file_bytes
            file.seek(offset)
            file.write(data)
        except OSError as error:
            raise StoreError(
                f"keeping an open transaction in a temporary file: {error.strerror}; free some space in TMPDIR"
            ) from error
        self._in_file += 1
        self.file_bytes += size
        return SpillHandle(self, None, offset, size)

    def get(self, handle: SpillHandle) -> bytes:
        """Return a batch.

        Raises:
            StoreError: the temporary file cannot be read.
        """
        if handle.data is not None:
            return handle.data
        try:
            if self._file is None:
                raise OSError(None, "the file no longer exists")
            self._file.seek(handle.offset)
            return self._file.read(handle.size)
        except OSError as error:
            raise StoreError(f"reading an open transaction from its temporary file: {error.strerror}") from error

    def dropped(self, handle: SpillHandle) -> None:
        """Free the space of a batch; close the file once it contains no batch."""
        if handle.data is not None:
            self.memory_bytes -= handle.size
            return
        self._in_file -= 1
        if self._in_file == 0 and self._file is not None:
            self._file.close()
            self._file, self.file_bytes = None, 0
