"""The content of an answer: bytes, or a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Content:
    """The content of an answer.

    Attributes:
        media_type: the media type.
        body: the content, or the file that contains it.
        status: the HTTP status.
        headers: further headers.
    """

    media_type: str
    body: bytes | Path
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """The size in bytes."""
        return self.body.stat().st_size if isinstance(self.body, Path) else len(self.body)
