"""Standard input, stored in a temporary file, because it can be read only once and not at any place."""

from __future__ import annotations

from pathlib import Path
from shutil import copyfileobj
from tempfile import NamedTemporaryFile
from typing import BinaryIO, Final
from weakref import finalize

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
            with NamedTemporaryFile(prefix="kafka-replica-", delete=False) as stored:
                self.path: Final = Path(stored.name)
                finalize(self, self.path.unlink, missing_ok=True)  # also at the end of the process
                copyfileobj(file, stored, 1 << 20)
        except OSError as error:
            raise UsageError(
                f"reading standard input: storing it in a temporary file: {reason_of(error)}; the variable TMPDIR "
                "names the folder of such files"
            ) from error
