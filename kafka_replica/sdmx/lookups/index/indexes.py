"""The indexes of a version, together."""

from __future__ import annotations

from typing import NamedTuple

from kafka_replica.sdmx.lookups.cache import Content
from kafka_replica.sdmx.lookups.index.attachments import AttachmentIndex
from kafka_replica.sdmx.lookups.index.contents import ContentIndex
from kafka_replica.sdmx.lookups.index.dangling_references import DanglingIndex
from kafka_replica.sdmx.lookups.index.keys import KeyIndex
from kafka_replica.sdmx.lookups.index.lazy_index import LazyIndex
from kafka_replica.sdmx.urns.urn import Urn


class Indexes(NamedTuple):
    """The indexes of a version; each is built on first use."""

    keys: LazyIndex[KeyIndex]
    contents: LazyIndex[ContentIndex]
    dangling: LazyIndex[DanglingIndex]
    attachments: LazyIndex[AttachmentIndex]

    @classmethod
    def empty(cls) -> Indexes:
        """Return indexes that have not been built yet."""
        return cls(LazyIndex(), LazyIndex(), LazyIndex(), LazyIndex())

    def updated(self, changed: set[Urn] | None) -> Indexes:
        """Return the indexes of a version that differs in the records of these keys; None means that all may differ."""
        return Indexes(
            self.keys.updated(changed),
            self.contents.updated(changed),
            self.dangling.updated(changed),
            self.attachments.updated(changed),
        )

    def content_of_key(self, key: Urn) -> Content | None:
        """Return the identity of the content of a key's record; None without a readable record or without an index."""
        contents = self.contents.made
        facts = None if contents is None else contents.of(key)
        return None if facts is None or facts.error is not None else facts.content
