"""The exceptions of the header stack."""

from __future__ import annotations

from kafka_replica.errors import DataError, KafkaReplicaError

__all__ = ["PieceError", "ServiceUnavailableError"]

_ADVICE = "correct the record, or the options of the piece"


class PieceError(DataError):
    """A piece of a header stack refused a record; ``piece`` is its name, ``reason`` the reason without the name."""

    def __init__(self, piece: str, reason: str, writing: str = "") -> None:
        refusal = f"the header piece {piece!r} refused it: {reason}"
        super().__init__(f"{writing}: {refusal}; {_ADVICE}" if writing else refusal)
        self.piece, self.reason, self.writing = piece, reason, writing

    def __reduce__(self) -> tuple[type[PieceError], tuple[str, str, str]]:
        return type(self), (self.piece, self.reason, self.writing)


class ServiceUnavailableError(KafkaReplicaError):
    """A service for keys or schemas does not answer; a replica waits for it, and sets no good record aside.

    Args:
        message: the message.
        is_refusal: whether the service has refused the client, for example its credentials. Before a replica has read
            its first record, such a refusal ends it, because waiting would not help; later it may be temporary.
    """

    def __init__(self, message: str, *, is_refusal: bool = False) -> None:
        super().__init__(message)
        self.is_refusal = is_refusal
