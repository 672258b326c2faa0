"""A listener that records a span of OpenTelemetry for each version, in the traces of the writers of its records."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Final, Protocol

from kafka_replica.errors import MissingExtraError
from kafka_replica.headers.pieces.trace_context import TraceContext
from kafka_replica.records import Record

if TYPE_CHECKING:
    from opentelemetry.trace import SpanContext, TracerProvider

_MOST_LINKS: Final = 128  # the default limit of OpenTelemetry
_MOST_RECORDS: Final = 10_000  # more records are a bulk load, and reading all of their headers would delay the listener


class SpannedChange(Protocol):
    """The attributes of a ``Change`` that this module uses."""

    @property
    def snapshot(self) -> Mapping[bytes, Record]: ...  # noqa: D102
    @property
    def changed(self) -> Collection[bytes]: ...  # noqa: D102
    @property
    def deleted(self) -> Collection[bytes]: ...  # noqa: D102
    @property
    def version(self) -> int: ...  # noqa: D102
    @property
    def initial(self) -> bool: ...  # noqa: D102


class VersionSpans:
    """A listener that records a span for each version except the first: ``replica.subscribe(VersionSpans())``.

    The span begins when the last of the version's records was written (its timestamp in the log), and ends when the
    listener is called: its duration is the time from the write to visibility, as far as the clocks agree. If all
    records with a trace context (``TraceContext``) have the same context, the span is its child; otherwise it is
    linked to each context. Records without a context and deletions are ignored. Only the first 10,000 changed records
    of a version are considered, and at most 128 contexts are linked. Source: OpenTelemetry's semantic conventions for
    messaging clients, spans of kind CONSUMER with the operation ``process``.

    Args:
        provider: the provider of the tracer; None means OpenTelemetry's global provider.

    Raises:
        MissingExtraError: the package opentelemetry-api is not installed.
    """

    def __init__(self, provider: TracerProvider | None = None) -> None:
        try:
            from opentelemetry import trace  # noqa: PLC0415 - an optional dependency
        except ImportError as error:
            raise MissingExtraError("recording spans", "headers") from error
        self._trace = trace
        self._tracer = trace.get_tracer("kafka_replica", tracer_provider=provider)
        self._context = TraceContext()

    def __call__(self, change: SpannedChange) -> None:
        """Record the span of a change."""
        if change.initial:
            return
        ended_ns = time.time_ns()
        records = list(_records(change))
        contexts = self._contexts(records)
        written_ns = max((record.timestamp_ms for record in records), default=-1) * 1_000_000
        parent = None
        if len(contexts) == 1:
            parent = self._trace.set_span_in_context(self._trace.NonRecordingSpan(contexts[0]))
        topics = sorted({record.topic for record in records})
        span = self._tracer.start_span(
            f"process {topics[0]}" if len(topics) == 1 else "process",
            context=parent,
            kind=self._trace.SpanKind.CONSUMER,
            links=[self._trace.Link(context) for context in contexts[:_MOST_LINKS]] if parent is None else (),
            attributes={
                "messaging.system": "kafka",
                "messaging.operation.type": "process",
                "messaging.batch.message_count": len(change.changed) + len(change.deleted),
                "kafka_replica.version": change.version,
                **({"messaging.destination.name": topics[0]} if len(topics) == 1 else {}),
            },
            start_time=min(written_ns, ended_ns) if written_ns > 0 else ended_ns,
        )
        span.end(ended_ns)

    def _contexts(self, records: list[Record]) -> list[SpanContext]:
        """Return the distinct valid contexts of records."""
        found: dict[tuple[int, int], SpanContext] = {}
        for record in records:
            if record.headers:
                context = self._trace.get_current_span(self._context.context_of(record.headers)).get_span_context()
                if context.is_valid:
                    found.setdefault((context.trace_id, context.span_id), context)
        return list(found.values())


def _records(change: SpannedChange) -> Iterator[Record]:
    # A snapshot of large values has its records as they are in the topic. Their headers are enough: values need neither
    # be assembled nor be complete.
    stored = getattr(change.snapshot, "records", None)
    records: Mapping[bytes, Record] = stored if isinstance(stored, Mapping) else change.snapshot
    for number, key in enumerate(change.changed):
        if number >= _MOST_RECORDS:
            return
        record = records.get(key)
        if record is not None:
            yield record
