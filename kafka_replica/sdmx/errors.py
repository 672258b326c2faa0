"""Errors of SDMX content and look-ups."""

from __future__ import annotations

from kafka_replica.errors import DataError

__all__ = [
    "ArtefactNotFoundError",
    "ExtensionError",
    "IncompleteStructureError",
    "MessageError",
    "NotExpressibleError",
    "SdmxError",
    "UnreadableContentError",
    "UnwritableError",
    "UrnError",
]


class SdmxError(DataError):
    """Content violates SDMX."""


class UrnError(SdmxError, ValueError):
    """A text is not an SDMX URN or short reference."""


class MessageError(SdmxError):
    """A structure message cannot be read: it is damaged, hostile, or not of the type that it claims."""


class UnreadableContentError(SdmxError):
    """Content has a format or a class that this version cannot read; the bytes are kept."""


class NotExpressibleError(SdmxError):
    """Another library, or a table, cannot represent an artefact."""


class ExtensionError(SdmxError):
    """Codelist extensions result in no list: for example, they are circular."""


class UnwritableError(SdmxError):
    """A format cannot represent an artefact, or not all of it; the message names another format."""


class ArtefactNotFoundError(SdmxError, LookupError):
    """The version does not contain the artefact or item."""


class IncompleteStructureError(ArtefactNotFoundError):
    """The version lacks artefacts needed to validate data, or they are unusable; ``missing`` lists all of them."""

    missing: tuple[object, ...] = ()
