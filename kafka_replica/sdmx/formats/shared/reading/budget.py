"""A limit on the total size of the parts that one message is split into.

Each part repeats the message's header and namespaces, so a small message with a large header and many small artefacts
could expand to gigabytes. Real messages grow only by a small factor.
"""

from __future__ import annotations

from typing import Final

from kafka_replica.sdmx.errors import MessageError

_FREE_BYTES: Final = 32 << 20
_FACTOR: Final = 30


class Budget:
    """The number of bytes that all parts of one message may have together.

    Args:
        size: the size of the message.
    """

    __slots__ = ("_left",)

    def __init__(self, size: int) -> None:
        self._left = _FREE_BYTES + _FACTOR * size

    def spend(self, part: bytes) -> bytes:
        """Return the part itself if the budget allows it.

        Raises:
            MessageError: the parts are disproportionately large compared with the message.
        """
        self._left -= len(part)
        if self._left < 0:
            raise MessageError(
                "splitting a structure message: its header, repeated for each artefact, makes it more than "
                f"{_FACTOR} times as large; shorten the header, or send fewer artefacts in one message"
            )
        return part
