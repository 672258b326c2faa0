"""A writer of structure messages that keeps what it has written, for services that write the same artefacts often."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from threading import Lock
from typing import Any, Final, NamedTuple

from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.formats.registry import KEEPABLE
from kafka_replica.sdmx.messages.format import Format, of_content_type
from kafka_replica.sdmx.messages.message import Header
from kafka_replica.sdmx.model import Artefact
from kafka_replica.sdmx.writing.messages import DEFAULT_HEADER, message_of, verified_element, write_message

_OVERHEAD_BYTES: Final = 1_000  # of an entry


class _CachedElement(NamedTuple):
    artefact: Artefact
    """The artefact itself: as long as it is kept, no other object has its ``id()``."""
    element: Any
    size_bytes: int


class MessageWriter:
    """Writes messages as ``write_message`` does, and keeps the verified part of each artefact for later messages.

    A part is found again by the identity of the artefact, so the caller has to share decoded artefacts between
    versions, as ``Structures`` does. Messages of SDMX-ML 1.0 and 2.0, SDMX-EDI and XLSX are always written as a whole,
    because there the meaning of a part depends on the other parts. Thread-safe.

    Args:
        max_bytes: the size of all parts; 0 keeps none.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._kept: OrderedDict[tuple[int, Format], _CachedElement] = OrderedDict()
        self._lock = Lock()
        self.size_bytes = 0
        """The approximate size of all parts."""

    def write(
        self, artefacts: Iterable[Artefact] | Artefact, media_type: str, header: Header = DEFAULT_HEADER
    ) -> bytes:
        """Return the message that ``write_message`` returns. Raises UnwritableError."""
        found = [artefacts] if isinstance(artefacts, Artefact) else list(artefacts)
        format_ = of_content_type(media_type)
        is_keepable = self._max_bytes and len({one.urn for one in found}) == len(found) > 1
        if format_ is not None and format_ in KEEPABLE and is_keepable:
            try:
                return message_of([self._element(one, format_) for one in found], header, format_)
            except UnwritableError:
                pass  # the error of the whole message names the artefact, and another format
        return write_message(found, media_type, header)

    def _element(self, artefact: Artefact, format_: Format) -> Any:
        key = id(artefact), format_
        with self._lock:
            kept = self._kept.get(key)
            if kept is not None:
                self._kept.move_to_end(key)
                return kept.element
        element, size_bytes = verified_element(artefact, format_)
        self._keep(key, _CachedElement(artefact, element, size_bytes + _OVERHEAD_BYTES))
        return element

    def _keep(self, key: tuple[int, Format], new: _CachedElement) -> None:
        with self._lock:
            if new.size_bytes > self._max_bytes or key in self._kept:
                return
            self._kept[key] = new
            self.size_bytes += new.size_bytes
            while self.size_bytes > self._max_bytes:
                self.size_bytes -= self._kept.popitem(last=False)[1].size_bytes
