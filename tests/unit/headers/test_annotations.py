"""Content types, routing trails with the account of usage, and trace contexts."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from opentelemetry import trace
from prometheus_client import CollectorRegistry, generate_latest

from kafka_replica import ConfigurationError
from kafka_replica.errors import MissingExtraError
from kafka_replica.headers import PieceError, Stack
from kafka_replica.headers.pieces import ContentType, Hop, RoutingTrail, TraceContext, Usage, hops_of
from kafka_replica.metrics.usage import export_usage
from kafka_replica.records import Partition, Record

JSON, MSGPACK = "application/json", "application/msgpack"
DECODERS: dict[str, Callable[[bytes], Any]] = {
    JSON: msgspec.json.decode,
    MSGPACK: msgspec.msgpack.decode,
    "text/plain;charset=latin-1": lambda b: b.decode("latin-1"),
}


def record(value: bytes | None, *headers: tuple[str, bytes | None]) -> Record:
    """Return a record of a replica."""
    return Record(b"k", value, 0, 0, headers, Partition("t", 0))


def test_one_topic_with_several_serialisations() -> None:
    """Values are decoded by the media type in their header; parameters and case count only where registered."""
    types = ContentType(DECODERS, default=JSON)
    for name, value in (
        (JSON, b'{"a":1}'),
        (MSGPACK, b"\x81\xa1a\x01"),
        ("Application/JSON; charset=utf-8", b'{"a":1}'),
    ):
        sent = Stack([types]).outgoing(b"k", value, [("content-type", name.encode())])
        received = Stack([types]).incoming(b"k", *sent)
        assert received == sent == (value, (("content-type", name.encode()),))
        assert types.decode(record(*received[:1], *received[1])) == {"a": 1}
    assert types.decode(record(b"\xe4", ("content-type", b"text/plain; charset=LATIN-1"))) == "ä"
    assert types.decode(record(b"1", ("#1", JSON.encode()))) == 1
    compact = Stack([types], compact_keys=True)
    assert compact.outgoing(b"k", b"1").headers == (("#1", JSON.encode()),)
    assert compact.incoming(b"k", b"1", [("#1", JSON.encode())]).headers == (("content-type", JSON.encode()),)
    assert types.decode(record(b"1")) == 1
    assert types.decode(record(None)) is None


def test_values_are_converted_for_readers() -> None:
    """With a type to convert to, readers get each value in it, and the header says so; such values are not decoded."""
    types = ContentType(DECODERS, default=JSON, convert_to=(JSON, msgspec.json.encode))
    stack = Stack([types])
    assert stack.incoming(b"k", b"\x81\xa1a\x01", [("x", b"1"), ("content-type", MSGPACK.encode())]) == (
        b'{"a":1}',
        (("x", b"1"), ("content-type", JSON.encode())),
    )
    assert stack.incoming(b"k", b'{ "a" : 1 }', [("content-type", JSON.encode())]).value == b'{ "a" : 1 }'
    assert stack.incoming(b"k", b"1") == (b"1", ())
    assert stack.incoming(b"k", None) == (None, ())
    with pytest.raises(PieceError, match="its application/msgpack cannot be converted to application/json"):
        stack.incoming(b"k", b"\xc1", [("content-type", MSGPACK.encode())])


def test_a_conversion_that_lacks_memory_refuses_no_value() -> None:
    """The cause is the machine, and not the value, which other replicas may convert."""

    def exhaust(_: object) -> bytes:
        raise MemoryError

    types = ContentType(DECODERS, default=JSON, convert_to=(JSON, exhaust))
    with pytest.raises(MemoryError):
        Stack([types]).incoming(b"k", b"\x01", [("content-type", MSGPACK.encode())])


@pytest.mark.parametrize(
    ("headers", "says"),
    [
        ([], "it has no content type"),
        ([("content-type", b"image/png")], "its content type 'image/png' is not one of application/json"),
        ([("content-type", None)], "its content type '' is not one of"),
        ([("content-type", JSON.encode()), ("#1", JSON.encode())], "several content types"),
    ],
)
def test_unknown_content_types_are_bad(headers: list[tuple[str, bytes | None]], says: str) -> None:
    """Reading and writing refuse a value without a registered decoder; tombstones need none."""
    stack = Stack([ContentType(DECODERS)])
    for transform in (stack.incoming, stack.outgoing):
        with pytest.raises(PieceError, match=says):
            transform(b"k", b"1", headers)
        assert transform(b"k", None, headers[:1]).value is None


@pytest.mark.parametrize(
    "arguments",
    [{"decoders": {}}, {"default": "a/b"}, {"convert_to": ("a/b", msgspec.json.encode)}, {"decoders": {JSON: "json"}}],
)
def test_types_without_a_decoder_are_refused(arguments: dict[str, object]) -> None:
    """Each media type that an argument names needs a decoder."""
    with pytest.raises(ConfigurationError, match="needs a decoder for each media type"):
        ContentType(**{"decoders": DECODERS, **arguments})  # type: ignore[arg-type]


def test_a_trail_grows_by_one_hop_with_each_writing() -> None:
    """A mirror appends its hop and changes none; readers find all of them in order."""
    registry = Stack([RoutingTrail("registry-1", "PostgreSQL structures", "eu")])
    mirror = Stack([RoutingTrail("mirror-7", "eu", "us", is_mirror=True)], compact_keys=True)
    sent = registry.outgoing(b"k", b"v", [("x", b"1")], topic="structures")
    copied = mirror.outgoing(b"k", *mirror.incoming(b"k", *sent, topic="structures"), topic="eu.structures")
    assert copied.headers[:2] == sent.headers
    first, second = hops_of(copied.headers)
    assert first._replace(time_ms=0) == Hop("registry-1", "PostgreSQL structures", "eu", "structures", 0)
    assert second._replace(time_ms=0) == Hop("mirror-7", "eu", "us", "eu.structures", 0, is_mirror=True)
    assert 1.7e12 < first.time_ms <= second.time_ms


def test_a_record_with_too_many_hops_is_refused() -> None:
    """A record is written at most ``max_hops`` times."""
    stack = Stack([RoutingTrail("p", max_hops=3)])
    headers: tuple[tuple[str, bytes | None], ...] = ()
    for _ in range(3):
        headers = stack.outgoing(b"k", None, headers, topic="t").headers
    with pytest.raises(PieceError, match="has 3 hops already"):
        stack.outgoing(b"k", None, headers, topic="t")
    for trail, topic in ((RoutingTrail(), "t"), (RoutingTrail("p"), None)):
        with pytest.raises(ConfigurationError, match="needs the names of the producer and of the topic"):
            Stack([trail]).outgoing(b"k", b"v", topic=topic)


@pytest.mark.parametrize(
    "content",
    [None, b"", b"x", b"[]", b"{}", b"9" * 5000, b"[" * 4000,
     b'{"producer":1,"source":"","cluster":"","topic":"","time_ms":0}',
     b'{"producer":"","source":"","cluster":"","topic":"","time_ms":0,"more":1}',
     b'{"producer":"","source":"","cluster":"","topic":"","time_ms":true}',
     b'{"producer":"\\ud800","source":"","cluster":"","topic":"","time_ms":0}'],
)  # fmt: skip
def test_a_damaged_trail_is_bad(content: bytes | None) -> None:
    """A trail that cannot be read makes the record bad."""
    with pytest.raises(PieceError, match="'routing trail' refused it: a header routing-hop"):
        Stack([RoutingTrail()]).incoming(b"k", b"v", [("routing-hop", content)])


@pytest.mark.parametrize(
    "arguments",
    [{"producer": 5}, {"producer": "p", "source": None}, {"producer": "p", "is_mirror": 1}, {"producer": "\ud800"}],
)
def test_hops_that_no_reader_accepts_are_refused(arguments: dict[str, Any]) -> None:
    """A piece whose hops would make each record bad cannot be made."""
    with pytest.raises(ConfigurationError, match="producer, source and cluster are text"):
        RoutingTrail(**arguments)


def test_a_hop_is_written_up_to_the_size_that_is_read() -> None:
    """The largest hop that is written can be read, and a larger one is refused by the writer."""
    size = len(Hop("p", "", "", "t", 1_700_000_000_000).content())
    for source_bytes in (4096 - size, 4097 - size):
        stack = Stack([RoutingTrail("p", "s" * source_bytes)])
        if source_bytes + size <= 4096:
            assert stack.incoming(b"k", *stack.outgoing(b"k", b"v", topic="t")).value == b"v"
        else:
            with pytest.raises(ConfigurationError, match="a hop of 4,097 bytes is not possible"):
                stack.outgoing(b"k", b"v", topic="t")


def test_usage_by_origin() -> None:
    """Records are counted by their first hop; a report and Prometheus show the counts, and origins are limited."""
    usage = Usage(max_origins=3)
    reader = Stack([RoutingTrail(usage=usage)])
    a, b = (Stack([RoutingTrail(name, "db|1", "eu")]) for name in "ab")
    mirror = Stack([RoutingTrail("m", is_mirror=True)])
    for value in (b"12345", b"1", None):
        reader.incoming(b"k", *a.outgoing(b"k", value, topic="t"))
    reader.incoming(b"k", *mirror.outgoing(b"k", *a.outgoing(b"k", b"12", topic="t"), topic="t2"))
    reader.incoming(b"k", b"1")
    for number in range(5):
        reader.incoming(b"k", *b.outgoing(b"k", b"1", topic=f"t{number}"))
    assert [row[:4] + row[4:] for row in usage.rows()] == [
        ("(others)",) * 4 + (False, 5, 0, 5),
        ("a", "db|1", "eu", "t", False, 3, 1, 6),
        ("", "", "", "", False, 1, 0, 1),
        ("a", "db|1", "eu", "t", True, 1, 0, 2),
    ]
    assert "| a | db\\|1 | eu | t | False | 3 | 1 | 6 |" in usage.report()
    registry = CollectorRegistry()
    export_usage(usage, "mine", registry=registry)
    export_usage(Usage(), "another", registry=registry)
    shown = generate_latest(registry).decode()
    labels = 'cluster="eu",mirrored="true",producer="a",replica="mine",source="db|1",topic="t"'
    assert f"kafka_replica_usage_records_total{{{labels}}} 1.0" in shown
    assert f"kafka_replica_usage_bytes_total{{{labels}}} 2.0" in shown
    assert "kafka_replica_usage_tombstones_total" in shown


def test_an_origin_that_cannot_be_written_is_exported_in_another_form() -> None:
    """A program may count what it likes; halves of surrogate pairs do not make writing all metrics fail."""
    usage, registry = Usage(), CollectorRegistry()
    usage.count(("a\ud800", "", "", "t"), False, b"1")
    export_usage(usage, "mine", registry=registry)
    assert 'producer="a\\\\ud800"' in generate_latest(registry).decode()


def test_a_trace_is_continued() -> None:
    """The headers are those of the current span, in W3C's form, and readers get its context."""
    piece = TraceContext()
    span = trace.SpanContext(
        0x4BF92F3577B34DA6A3CE929D0E0E4736, 0x00F067AA0BA902B7, is_remote=False, trace_flags=trace.TraceFlags(1),
        trace_state=trace.TraceState([("rojo", "00f067aa0ba902b7")]),
    )  # fmt: skip
    with trace.use_span(trace.NonRecordingSpan(span)):
        sent = Stack([piece]).outgoing(b"k", b"v", [("traceparent", b"old"), ("x", b"1")])
    assert sent.headers == (
        ("x", b"1"),
        ("traceparent", b"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
        ("tracestate", b"rojo=00f067aa0ba902b7"),
    )
    assert Stack([piece]).incoming(b"k", *sent) == sent
    found = trace.get_current_span(piece.context_of(sent.headers)).get_span_context()
    assert (found.trace_id, found.span_id, found.is_remote) == (span.trace_id, span.span_id, True)


def test_without_a_span_headers_pass() -> None:
    """Without a current span the trace of a forwarded record continues; an invalid one is ignored."""
    piece = TraceContext()
    for headers in ((), (("traceparent", b"nonsense"),), (("traceparent", None), ("tracestate", b"\xff"))):
        assert Stack([piece]).outgoing(b"k", b"v", headers) == (b"v", headers)
        assert Stack([piece]).incoming(b"k", b"v", headers) == (b"v", headers)
        assert not trace.get_current_span(piece.context_of(headers)).get_span_context().is_valid


def test_trace_contexts_need_opentelemetry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the package the error names the extra to install."""
    monkeypatch.setitem(sys.modules, "opentelemetry.trace.propagation.tracecontext", None)
    with pytest.raises(MissingExtraError, match=r"kafka-replica\[headers\]"):
        TraceContext()


def test_a_hop_is_plain_json() -> None:
    """Other programs read a hop as a JSON object."""
    assert json.loads(Hop("p", "s", "c", "t", 5).content()) == {
        "producer": "p", "source": "s", "cluster": "c", "topic": "t", "time_ms": 5, "is_mirror": False,
    }  # fmt: skip
