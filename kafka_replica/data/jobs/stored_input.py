"""Standard input, stored in a temporary file, because it can be read only once and not at any place."""

from __future__ import annotations

from pathlib import Path
from shutil import copyfileobj
from tempfile import NamedTemporaryFile
from typing import BinaryIO, Final

from kafka_replica.common.wording import reason_of
from kafka_replica.errors import UsageError


class StoredInput:
    """The bytes of standard input in a file among the system's temporary files, which is removed with this object.

    Attributes:
        path: the file.
    """

    def __init__(self, file: BinaryIO) -> None:
        """Read standard input to its end.

        Raises:
            UsageError: the temporary file cannot be written.
        """
        try:
            self._file = NamedTemporaryFile(prefix="kafka-replica-")  # noqa: SIM115 - removed with this object
            copyfileobj(file, self._file, 1 << 20)
            self._file.flush()
        except OSError as error:
            raise UsageError(
                f"reading standard input: storing it in a temporary file: {reason_of(error)}; the variable TMPDIR "
                "names the folder of such files"
            ) from error
        self.path: Final = Path(self._file.name)
