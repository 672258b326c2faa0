"""Elements where SDMX-ML does not define them: errors if they may contain data, otherwise the sender's extensions.

Senders may add elements in namespaces of their own. An element in a namespace of SDMX or of the message's structures,
or without a namespace, is a misspelt or misplaced element of SDMX, and ignoring it would lose data.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from kafka_replica.common.wording import did_you_mean
from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files.messages.ml.events import Events
from kafka_replica.data.files.messages.ml.unclear_deletions import UnclearDeletions

_OF_SDMX: Final = ("sdmx.org/", "urn:sdmx:")
OF_W3C: Final = "http://www.w3.org/"
"""The beginning of the namespaces of ``xsi:type`` and ``xml:lang``."""
_MOST_NOTES: Final = 20
_METADATA: Final = "reference metadata"


class UnknownElements:
    """The treatment of elements that no reader knows.

    Args:
        events: the parser.

    Attributes:
        namespaces: the namespaces of the message's own elements, in addition to those of SDMX.
        deletions: collects the elements that delete nothing.
    """

    def __init__(self, events: Events) -> None:
        self._events = events
        self.namespaces: set[str] = {""}
        self.deletions = UnclearDeletions(events)
        self._skipped: dict[str, str] = {}

    @property
    def notes(self) -> tuple[str, ...]:
        """Return a remark for each namespace whose elements were skipped, up to a limit, and the other remarks."""
        return (*self._skipped.values(), *self.deletions.notes)

    def is_foreign(self, name: str) -> bool:
        """Return whether a name is in a namespace that is neither SDMX's nor that of a structure of the message."""
        uri = name.rpartition("}")[0]
        return uri not in self.namespaces and not any(one in uri.lower() for one in _OF_SDMX)

    def skip_metadata(self) -> None:
        """Skip an element of reference metadata that has just started."""
        self._skipped.setdefault(
            _METADATA, f"reference metadata was not read; the first is in line {self._events.line}"
        )
        self._events.skip()

    def skip_or_refuse(self, name: str, known: Iterable[str]) -> None:
        """Skip an element that has just started and is an extension.

        Args:
            name: its name.
            known: the local names of the elements that are read at its place.

        Raises:
            DatasetError: it is not an extension, so its content may be data.
        """
        uri, _, local = name.rpartition("}")
        if not self.is_foreign(name):
            # Ids of components are in upper case, and resemble no element: OBS_VALUE is not Value.
            hint = "; values are XML attributes" if local.isupper() else did_you_mean(local[:80], known)
            raise DatasetError(
                f"line {self._events.line}: the element {local[:80]!r} is not part of SDMX-ML data here, so data in "
                f"it would be lost; correct or remove it{hint}"
            )
        if uri not in self._skipped and len(self._skipped) < _MOST_NOTES:
            self._skipped[uri] = (
                f"elements of the namespace {uri[:200]!r} are not part of SDMX-ML and were not read; the first is "
                f"{local[:80]!r} in line {self._events.line}"
            )
        self._events.skip()
