"""Answers of the SDMX REST API ready to be sent: with all headers, and compressed if the request accepts it."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

from starlette.responses import Response
from starlette.types import Scope

from kafka_replica.server.answers.compression import compress, is_worth_compressing
from kafka_replica.server.answers.entity_tags import with_suffix
from kafka_replica.server.rest.request_and_answer import RestAnswer

_WITHOUT_BODY: Final = frozenset({204, 304})


class FinishedAnswer(NamedTuple):
    """An answer ready to be sent, without the headers that may change while the version stays the same."""

    status: int
    headers: tuple[tuple[bytes, bytes], ...]
    """Pairs of name and value, as in ASGI messages."""
    body: bytes
    problem: str | None = None
    """The error message for people; None if the answer is not an error."""


class FinishedResponse(Response):
    """A response whose headers are encoded already.

    Args:
        found: the answer.
        more: additional headers, encoded.
    """

    def __init__(self, found: FinishedAnswer, more: tuple[tuple[bytes, bytes], ...]) -> None:
        # The base class's constructor is not called, because it would encode all headers again for each request.
        self.status_code, self.body, self.background = found.status, found.body, None
        self.raw_headers = [*found.headers, *more]


SendKnown: TypeAlias = Callable[[Response], object]
"""A function that sends a whole answer, whose headers need no check."""
AnswerKnown: TypeAlias = Callable[[Scope, SendKnown], bool]
"""A function that sends the answer to a request if it is known, and returns whether it has sent it."""


def finish(answer: RestAnswer, version: dict[bytes, bytes], suffix: str, *, with_gzip: bool) -> FinishedAnswer:
    """Return an answer ready to be sent.

    Args:
        answer: the answer. Its own headers take precedence, because an answer with asOf names its own version.
        version: the headers that name the version, encoded.
        suffix: the suffix of the version's entity tags.
        with_gzip: whether the request accepts gzip.
    """
    body, headers = answer.body, version.copy()
    for name, value in answer.headers:
        headers[_raw_name(name)] = value.encode("latin-1")
    compressed = with_gzip and is_worth_compressing(headers.get(b"content-type", b"").decode("latin-1"), len(body))
    if compressed:
        body = compress(body)
        headers[b"content-encoding"] = b"gzip"
    headers.setdefault(b"cache-control", b"no-cache")  # clients may cache the answer, but must revalidate it
    vary = headers.get(b"vary")
    headers[b"vary"] = vary + b", Accept-Encoding" if vary else b"Accept-Encoding"
    if b"etag" in headers:
        tag = with_suffix(headers[b"etag"].decode("latin-1"), suffix, compressed=compressed)
        headers[b"etag"] = tag.encode("latin-1")
    if answer.status not in _WITHOUT_BODY:
        headers[b"content-length"] = b"%d" % len(body)
    return FinishedAnswer(answer.status, tuple(headers.items()), body, answer.problem)


@lru_cache(maxsize=256)
def _raw_name(name: str) -> bytes:
    """Return the name of a header as in ASGI messages; few names occur."""
    return name.lower().encode("latin-1")
