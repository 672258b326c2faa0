"""Artefacts of classes that are kept without being read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NoReturn

from kafka_replica.sdmx.errors import UnreadableContentError
from kafka_replica.sdmx.model.base import Maintainable


class OpaqueArtefact(Maintainable, frozen=True, gc=False, kw_only=True):
    """An artefact of a class that is kept but not read: its names, and a message that holds only this artefact.

    ``content`` is a whole message in ``format`` (a media type). Access to anything else raises
    UnreadableContentError.
    """

    content: bytes
    content_type: str

    def _facts(self) -> Iterator[str]:
        yield f"of class {self.urn.cls}"
        yield from super()._facts()

    def __getattr__(self, attribute: str) -> NoReturn:
        if attribute.startswith("_"):
            raise AttributeError(attribute)
        raise UnreadableContentError(
            f"reading {attribute!r} of {self.urn}: artefacts of class {self.urn.cls} cannot be read; "
            "their bytes are kept in .content"
        )
