"""An index of the folded texts of artefacts, by the content of the message and the URN.

A message has the same text in every version. So after a change of the topic, only changed messages are decoded again,
and the search in earlier versions uses the same texts.
"""

from __future__ import annotations

import logging
from threading import Event, Lock, Thread
from typing import Final, TypeAlias

from kafka_replica.errors import KafkaReplicaError
from kafka_replica.sdmx import Structures, Urn
from kafka_replica.sdmx.lookups.cache import Content
from kafka_replica.sdmx.model import Artefact
from kafka_replica.server.answers.versions import VersionId
from kafka_replica.server.pages.folding import folded
from kafka_replica.server.pages.texts import texts_of

_log = logging.getLogger("kafka_replica.server")
_Key: TypeAlias = tuple[Content, Urn]
_ENTRY_BYTES: Final = 400
"""The approximate size in memory of an entry without its text."""


class SearchIndex:
    """The folded texts of artefacts: one line for each reference, name, description, annotation and item. Thread-safe.

    A search adds the texts that it does not find; :meth:`begin` adds all texts of a version in a thread.

    Args:
        max_bytes: the maximum size of the kept texts; texts that do not fit are built for each search.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._lock = Lock()
        self._texts: dict[_Key, bytes] = {}
        self._bytes = 0
        self._filled: VersionId | None = None  # the version whose texts were added, as far as they fit
        self._thread: Thread | None = None
        self._closed = Event()

    @property
    def size_bytes(self) -> int:
        """The approximate size of the kept texts in memory."""
        return self._bytes

    def text(self, structures: Structures, urn: Urn) -> bytes:
        """Return the text of an artefact; only its reference if the artefact cannot be read."""
        content = structures.content_id(urn)
        found = None if content is None else self._texts.get((content, urn))
        if found is None:
            found = _text_of(structures, urn)
            if content is not None:
                self._keep((content, urn), found)
        return found

    def begin(self, structures: Structures, version: VersionId) -> None:
        """Start to add the texts of a version in a thread, unless this was done or the thread is still running.

        The index keeps only the id of the version, so that the version is released when the thread ends.
        """
        with self._lock:
            is_running = self._thread is not None and self._thread.is_alive()
            if self._filled == version or self._closed.is_set() or is_running:
                return
            arguments = structures, version
            self._thread = Thread(target=self._run, args=arguments, name="kafka_replica search", daemon=True)
            self._thread.start()

    def fill(self, structures: Structures) -> bool:
        """Add all texts of a version, and remove those of messages that the version does not have.

        Returns:
            Whether all texts were added; False if one does not fit, after which no more are added, or the index was
            closed.
        """
        structures.unreadable_records()  # reads all messages, without which content_id is not known
        urns = [*structures.urns, *structures.companions()]
        held = {(content, urn) for urn in urns if (content := structures.content_id(urn)) is not None}
        with self._lock:
            for key in [key for key in self._texts if key not in held]:
                self._bytes -= len(self._texts.pop(key)) + _ENTRY_BYTES
        for urn in reversed(urns):  # a concurrent search adds them from the other end
            content = structures.content_id(urn)
            if self._closed.is_set():
                return False
            if content is None or (content, urn) in self._texts:
                continue
            if not self._keep((content, urn), _text_of(structures, urn)):
                return False
        return True

    def close(self) -> None:
        """Stop the thread. Idempotent."""
        self._closed.set()

    def _run(self, structures: Structures, version: VersionId) -> None:
        try:
            self.fill(structures)
            self._filled = version
        except KafkaReplicaError as error:
            _log.warning("preparing the search of version %d: %s", structures.version, error)

    def _keep(self, key: _Key, text: bytes) -> bool:
        """Keep a text if it fits; return whether it is kept."""
        with self._lock:
            size = len(text) + _ENTRY_BYTES
            if key not in self._texts and self._bytes + size <= self._max_bytes:
                self._texts[key] = text
                self._bytes += size
            return key in self._texts


def _text_of(structures: Structures, urn: Urn) -> bytes:
    lines = [urn.reference]
    try:
        artefact = structures.get(urn)
    except KafkaReplicaError:
        pass
    else:
        if isinstance(artefact, Artefact):
            lines += (text.text for text in texts_of(artefact))
    return folded("\n".join(dict.fromkeys(lines))).encode("utf-8", "replace")
