"""Keys and references that ``get`` accepts, and its messages where there is no such key."""

from __future__ import annotations

import pytest

from kafka_replica.cli.keys import find_record
from kafka_replica.errors import UsageError
from kafka_replica.sdmx.errors import ArtefactNotFoundError
from kafka_replica.testing import FakeKafka, FakeTopic

URN = "urn:sdmx:org.sdmx.infomodel."


@pytest.fixture
def topic() -> FakeTopic:
    """A topic with two versions of a list, another class with the same reference, and a key that is not a URN."""
    topic = FakeTopic()
    with topic.transaction() as transaction:
        for key in ("codelist.Codelist=SDMX:CL_FREQ(2.0)", "codelist.Codelist=SDMX:CL_FREQ(2.1)",
                    "codelist.Codelist=A:X(1.0)", "datastructure.Dataflow=A:X(1.0)"):  # fmt: skip
            transaction.put(f"{URN}{key}", key.encode())
        transaction.put("plain", b"plain")
    return topic


@pytest.mark.parametrize(
    ("wanted", "value"),
    [
        ("SDMX:CL_FREQ(2.1)", "codelist.Codelist=SDMX:CL_FREQ(2.1)"),
        ("SDMX:CL_FREQ(2.0)", "codelist.Codelist=SDMX:CL_FREQ(2.0)"),
        ("SDMX:CL_FREQ", "codelist.Codelist=SDMX:CL_FREQ(2.1)"),
        ("SDMX:CL_FREQ(2.0+)", "codelist.Codelist=SDMX:CL_FREQ(2.1)"),
        ("Codelist=A:X(1.0)", "codelist.Codelist=A:X(1.0)"),
        (f"{URN}datastructure.Dataflow=A:X(1.0)", "datastructure.Dataflow=A:X(1.0)"),
        ("plain", "plain"),
    ],
)
def test_get_finds_keys_and_references(topic: FakeTopic, wanted: str, value: str) -> None:
    """``get`` finds a literal key, and an artefact's reference, whose version may be missing or a rule."""
    with topic.replica() as replica:
        assert find_record([replica.wait_ready(timeout_s=60)], wanted).value == value.encode()


@pytest.mark.parametrize(
    ("wanted", "error", "expected_text"),
    [
        ("A:X(1.0)", ArtefactNotFoundError, "matches 2 records; give one of them:"),
        ("SDMX:CL_FREK(2.1)", ArtefactNotFoundError, "did you mean SDMX:CL_FREQ(2.1)"),
        ("CL_FREQ", ArtefactNotFoundError, "; did you mean SDMX:CL_FREQ?"),
        (f"{URN}codelist.Codelist=SDMX:CL_FREQ(2.2)", ArtefactNotFoundError, f"did you mean {URN}codelist.Codelist="),
        ("plian", ArtefactNotFoundError, "did you mean plain?"),
        ("zzzzzz", ArtefactNotFoundError, "there is no key zzzzzz in version 1 of fake-0@6"),
        ("SDMX:CL_FREQ(*)", UsageError, 'kafka-replica list "*=SDMX:CL_FREQ(*)"'),
        ("SDMX:CL_FREQ(2.1).A", UsageError, 'kafka-replica get "SDMX:CL_FREQ(2.1)"'),
    ],
)
def test_get_suggests_similar_keys_classes_or_commands(
    topic: FakeTopic, wanted: str, error: type[Exception], expected_text: str
) -> None:
    """The error suggests a similar key, the classes that fit, or the right command."""
    with topic.replica() as replica, pytest.raises(error) as raised:
        find_record([replica.wait_ready(timeout_s=60)], wanted)
    assert expected_text in str(raised.value)


def test_get_looks_in_each_of_several_topics() -> None:
    """A key in two topics is ambiguous; a key in a single topic is found."""
    kafka = FakeKafka()
    one, two = FakeTopic("one", kafka=kafka), FakeTopic("two", kafka=kafka)
    one.put("both", b"1")
    two.put("both", b"2")
    two.put("single", b"3")
    with kafka.replica("one", "two") as replica:
        snapshot = replica.wait_ready(timeout_s=60)
        parts = [snapshot.of("one"), snapshot.of("two")]
        assert find_record(parts, "single").value == b"3"
        with pytest.raises(ArtefactNotFoundError, match="both in topic one\n  both in topic two"):
            find_record(parts, "both")
