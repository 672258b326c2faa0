"""A mark in the folder of a history: it exists while every version that readers saw is recorded.

The mark is a file that is removed when a version cannot be recorded. Removing it works even on a full disk, where
nothing can be written, so that the history knows after a restart that versions are missing.
"""

from __future__ import annotations

import logging
from pathlib import Path

from kafka_replica.common.folder_sync import replace_durably, sync_folder
from kafka_replica.common.wording import reason_of

COMPLETE, UNFINISHED = "COMPLETE", "COMPLETE.new"
_log = logging.getLogger("kafka_replica.history")


class CompletenessMark:
    """The mark in the folder of a history.

    Args:
        folder: the folder.
    """

    def __init__(self, folder: Path) -> None:
        self._file, self._unfinished = folder / COMPLETE, folder / UNFINISHED
        self.exists = self._file.exists()
        """True if the mark exists; only this object changes it while a history is open."""

    def create(self) -> None:
        """Create the mark; a failure is logged, and makes the history assume later that versions are missing."""
        try:
            replace_durably(self._file, "", self._unfinished)
        except OSError as error:
            _log.warning("cannot mark the history in %s as complete: %s", self._file.parent, reason_of(error))
        else:
            self.exists = True

    def remove(self) -> None:
        """Remove the mark; a failure is logged. Idempotent."""
        try:
            self._file.unlink(missing_ok=True)
        except OSError as error:
            _log.error("cannot mark the history in %s as incomplete: %s", self._file.parent, reason_of(error))
        else:
            self.exists = False
            sync_folder(self._file.parent)
