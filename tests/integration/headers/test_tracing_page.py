"""A trace from the writer to the version: the example in docs/tracing.md as written, and the reference producer."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind

from kafka_replica import BadRecordError, Replica
from kafka_replica.embedded import LocalKafka
from kafka_replica.headers import Stack
from kafka_replica.headers.pieces import TraceContext, VersionSpans
from kafka_replica.large_values import split
from kafka_replica.producer import Delete, Put, StructureProducer
from kafka_replica.testing import FakeTopic
from kafka_replica.testing.pytest_plugin import TopicMaker
from support.doc_blocks import programs
from support.producer.producer_tools import log_of, settings_of


@pytest.fixture
def exporter() -> InMemorySpanExporter:
    """Ended spans."""
    return InMemorySpanExporter()


@pytest.fixture
def provider(exporter: InMemorySpanExporter) -> Iterator[TracerProvider]:
    """A provider whose spans are exported when they end."""
    made = TracerProvider()
    made.add_span_processor(SimpleSpanProcessor(exporter))
    yield made
    made.shutdown()


def versions_in(exporter: InMemorySpanExporter, count: int) -> list[ReadableSpan]:
    """Wait for the spans of so many versions, and return them in their order."""
    give_up_s = time.monotonic() + 60
    while True:
        found = [span for span in exporter.get_finished_spans() if span.kind is SpanKind.CONSUMER]
        if len(found) >= count:
            return found
        assert time.monotonic() < give_up_s
        time.sleep(0.01)


@pytest.mark.broker
@pytest.mark.runs("docs/tracing.md")
def test_the_example_gives_one_trace(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, exporter: InMemorySpanExporter, provider: TracerProvider
) -> None:
    """The span of the version is a child of the producer's span, and begins when the record was written."""
    topic = kafka_topic("traced")
    (program,) = programs("docs/tracing.md")
    program = program.replace("localhost:9092", local_kafka.bootstrap_servers).replace('"codes"', f'"{topic}"')
    program = program.replace("VersionSpans()", "VersionSpans(provider)").replace(
        "trace.get_tracer(", "provider.get_tracer("
    )
    exec(program, {"provider": provider})
    (version,) = versions_in(exporter, 1)
    (written,) = [span for span in exporter.get_finished_spans() if span.name == "update the codelist"]
    assert version.name == f"process {topic}"
    assert version.context.trace_id == written.context.trace_id
    assert version.parent is not None
    assert version.parent.span_id == written.context.span_id
    assert version.attributes is not None
    assert version.attributes["messaging.destination.name"] == topic
    assert version.attributes["messaging.batch.message_count"] == 1
    assert version.start_time is not None
    assert version.end_time is not None
    assert version.start_time <= version.end_time


@pytest.mark.broker
@pytest.mark.parametrize("in_stack", [False, True])
def test_the_reference_producer_keeps_the_context_of_the_recorder(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path, exporter: InMemorySpanExporter,
    provider: TracerProvider, *, in_stack: bool,
) -> None:  # fmt: skip
    """Versions are children of the spans that recorded, though another thread publishes later; all records say so."""
    topic, tracer = kafka_topic("recorded", config={"min.compaction.lag.ms": "600000"}), provider.get_tracer("registry")
    stack = Stack([TraceContext()]) if in_stack else None
    settings = settings_of(local_kafka.bootstrap_servers, topic, f"sqlite:///{tmp_path / 'o.db'}")
    kafka = {"bootstrap.servers": local_kafka.bootstrap_servers}
    with Replica(kafka, topic, header_stack=stack) as replica:
        replica.wait_ready(timeout_s=60)
        replica.subscribe(VersionSpans(provider))
        with StructureProducer(settings, header_stack=stack) as producer:
            with tracer.start_as_current_span("update"), producer.engine.begin() as connection:
                producer.record(connection, [Put("a", b"1", "text/plain"), Put("b", b"2")])
            with producer.engine.begin() as connection:
                producer.record(connection, [Put("a", b"3")])
            with tracer.start_as_current_span("remove"), producer.engine.begin() as connection:
                producer.record(connection, [Put("b", b"4"), Delete("a")])
            versions = versions_in(exporter, 4)
    update, remove = (
        next(span for span in exporter.get_finished_spans() if span.name == n) for n in ("update", "remove")
    )
    parents = [None if version.parent is None else version.parent.span_id for version in versions]
    assert parents[:3] == [update.context.span_id, None, remove.context.span_id]
    traced = [f"{update.context.span_id:016x}"] * 2 + [None] + [f"{remove.context.span_id:016x}"] * 2
    headers = [record.header("traceparent") for record, _ in log_of(local_kafka.bootstrap_servers, topic)]
    assert [None if header is None else header.decode().split("-")[2] for header in headers] == traced


def test_records_of_several_traces_are_linked(exporter: InMemorySpanExporter, provider: TracerProvider) -> None:
    """A version with records of two traces is linked to both; one without any context has a trace of its own."""
    stack, topic, tracer = Stack([TraceContext()]), FakeTopic("codes"), provider.get_tracer("test")
    topic.put("old", b"0")
    with topic.replica(header_stack=stack) as replica:
        replica.wait_ready(timeout_s=60)
        replica.subscribe(VersionSpans(provider))
        producer = topic.producer(header_stack=stack)
        with producer.transaction() as transaction:
            for name in ("first", "second"):
                with tracer.start_as_current_span(name):
                    transaction.put(name, b"1")
            transaction.delete("old")
        replica.wait_for(topic.end(), timeout_s=60)
        topic.put("plain", b"2")
        replica.wait_for(topic.end(), timeout_s=60)
        both, alone = versions_in(exporter, 2)
    writers = {span.context.span_id for span in exporter.get_finished_spans() if span.name in {"first", "second"}}
    assert both.parent is None
    assert {link.context.span_id for link in both.links} == writers
    assert both.attributes is not None
    assert both.attributes["messaging.batch.message_count"] == 3
    assert (alone.parent, list(alone.links)) == (None, [])


def test_large_values_are_not_assembled_for_their_headers(
    exporter: InMemorySpanExporter, provider: TracerProvider
) -> None:
    """Only the headers of a large value are read: an incomplete one has a span like any other."""
    topic, tracer = FakeTopic("codes"), provider.get_tracer("test")
    with topic.replica(large_values=True) as replica:
        replica.wait_ready(timeout_s=60)
        replica.subscribe(VersionSpans(provider))
        with tracer.start_as_current_span("writer"):
            headers = Stack([TraceContext()]).outgoing(b"k", b"").headers
        *_, manifest = split("k", b"abc", headers=headers, chunk_bytes=2).records
        replica.wait_for(topic.put("k", manifest.value or b"", headers=manifest.headers), 60)
        (version,) = versions_in(exporter, 1)
        with pytest.raises(BadRecordError, match="chunk 1 of 2 is missing"):
            replica.snapshot().get("k")
    (writer,) = (span for span in exporter.get_finished_spans() if span.name == "writer")
    assert version.parent is not None
    assert version.parent.span_id == writer.context.span_id


def test_an_invalid_context_is_ignored(exporter: InMemorySpanExporter, provider: TracerProvider) -> None:
    """Headers without a trace context add nothing, and never stop the replica."""
    topic = FakeTopic("codes")
    with topic.replica() as replica:
        replica.wait_ready(timeout_s=60)
        replica.subscribe(VersionSpans(provider))
        replica.wait_for(topic.put("a", b"1", headers=(("traceparent", b"\xff-no"), ("tracestate", None))), 60)
        (version,) = versions_in(exporter, 1)
    assert (version.parent, list(version.links)) == (None, [])
    assert trace.get_current_span() is trace.INVALID_SPAN
