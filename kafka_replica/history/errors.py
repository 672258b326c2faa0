"""The errors of a history of versions."""

from __future__ import annotations

from kafka_replica.errors import UsageError, VersionGoneError

__all__ = ["FutureVersionError", "VersionNotKeptError"]


class VersionNotKeptError(VersionGoneError):
    """A version or an instant is older than the history, or was never recorded; the message names what is kept."""


class FutureVersionError(UsageError, LookupError):
    """A version was requested that does not exist yet, or an instant in the future."""
