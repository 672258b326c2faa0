"""Header names that are not UTF-8 are sent in no form that ends the process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kafka_replica import BadRecordError, DeadLetterFile, Partition, Record
from kafka_replica.broker.writing.writer import TransactionalWriter
from kafka_replica.errors import RecordNotSentError
from kafka_replica.producer import DeadLetterTopic

ODD = b"Gr\xf6\xdfe".decode(errors="surrogateescape")


class FakeClient:
    """A client that keeps what it was given to send; confluent-kafka 2.16.1 ends the process at a lone surrogate."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.values: list[bytes] = []

    def produce(self, _topic: str, **arguments: Any) -> None:
        """Keep names and values of headers."""
        for name, value in arguments["headers"]:
            self.names.append(name.encode().decode())
            self.values.append(value)

    def flush(self, _timeout_s: float) -> int:
        """Return that nothing is left to send."""
        return 0

    def poll(self, _timeout_s: float) -> int:
        """Do nothing."""
        return 0

    def __len__(self) -> int:
        return 0


def bad_record() -> BadRecordError:
    """Return a bad record with an odd header name and an odd reason."""
    bad = BadRecordError("t", 0, 7, "not a \udc80 name", "publish it again", b"k")
    bad.record = Record(b"k", b"v", 7, 5, ((ODD, b"1"), ("größe", None)), Partition("t", 0))
    return bad


def test_a_dead_letter_topic_escapes_odd_names_and_reasons() -> None:
    """The letter has the record's headers in their order, with escapes where a name is not UTF-8."""
    letters, client = DeadLetterTopic({"bootstrap.servers": "127.0.0.1:1"}, "dead"), FakeClient()
    parts: Any = letters
    parts._producer = client
    letters.put([bad_record()])
    assert client.names[:3] == [r"Gr\udcf6\udcdfe", "größe", "__connect.errors.topic"]
    assert client.values[-1] == rb"not a \udc80 name"


def test_a_dead_letter_file_keeps_odd_names_and_reasons(tmp_path: Path) -> None:
    """The line is JSON in UTF-8, from which the name is read as the replica has read it."""
    DeadLetterFile(tmp_path / "letters").put([bad_record()])
    line = json.loads((tmp_path / "letters").read_text(encoding="utf-8"))
    assert [name for name, _ in line["headers"]] == [ODD, "größe"]
    assert line["reason"] == "not a \udc80 name"


def test_a_producer_refuses_a_name_that_the_client_cannot_send() -> None:
    """The error names key, topic and header, and the record is not handed to the client."""
    writer: Any = TransactionalWriter.__new__(TransactionalWriter)
    writer._producer = FakeClient()
    with pytest.raises(
        RecordNotSentError, match=r"handing over key k for topic t: .*header 'Gr\\udcf6\\udcdfe' cannot"
    ):
        writer.send("t", b"k", b"v", (("größe", b"1"), (ODD, b"2")))
    assert writer._producer.names == []
