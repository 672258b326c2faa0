"""The piece that carries the W3C trace context of OpenTelemetry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafka_replica.errors import MissingExtraError
from kafka_replica.headers.current_trace import NAMES, current_trace
from kafka_replica.headers.stacks.header_keys import HeaderKey
from kafka_replica.headers.stacks.piece import Piece, PieceInput, PieceOutput
from kafka_replica.records import Headers

if TYPE_CHECKING:
    from opentelemetry.context import Context


class TraceContext(Piece):
    """The trace context (W3C Recommendation "Trace Context", sections 3.2 and 3.3) of the span that writes a record.

    The headers ``traceparent`` and ``tracestate`` are those of OpenTelemetry's current span. Without a current span,
    the headers of the record pass unchanged. Readers continue the trace with ``context_of(record.headers)``. An invalid
    context is ignored, as the recommendation requires, and never makes a record bad.

    Raises:
        MissingExtraError: the package opentelemetry-api is not installed.
    """

    name = "trace context"
    keys = tuple(HeaderKey(name) for name in NAMES)
    decides_value = False

    @property
    def identity(self) -> str:
        """An empty text: the piece changes no value."""
        return ""

    def __init__(self) -> None:
        try:
            from opentelemetry.trace.propagation.tracecontext import (  # noqa: PLC0415 - an optional dependency
                TraceContextTextMapPropagator,
            )
        except ImportError as error:
            raise MissingExtraError("carrying the trace context", "headers") from error
        self._propagator = TraceContextTextMapPropagator()

    def outgoing(self, record: PieceInput) -> PieceOutput:
        """Set the headers to the context of the current span, if there is one."""
        return PieceOutput(record.value, current_trace() or None)

    def incoming(self, record: PieceInput) -> PieceOutput:
        """Return the value and leave the headers, which are for readers, unchanged."""
        return PieceOutput(record.value)

    def context_of(self, headers: Headers) -> Context:
        """Return the context in a record's headers, for the argument ``context`` of OpenTelemetry's functions.

        It has no span unless the headers have exactly one valid ``traceparent``.
        """
        carrier: dict[str, list[str]] = {}
        for name, content in headers:
            if name in NAMES and content is not None:
                carrier.setdefault(name, []).append(content.decode("latin-1"))
        if len(carrier.get("traceparent", ())) > 1:
            carrier.clear()
        return self._propagator.extract({name: ",".join(contents) for name, contents in carrier.items()})
