"""The published format is the configured one."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_replica.embedded import LocalKafka
from kafka_replica.errors import ConfigurationError
from kafka_replica.producer import Put, StructureProducer
from kafka_replica.producer.changes.encoding import as_recorded
from kafka_replica.producer.changes.formats import as_structures, encoder_of
from kafka_replica.producer.sources.contents import fingerprint
from kafka_replica.sdmx import Header, MessagePart, media_types, read_message, split_message, write_message
from kafka_replica.sdmx.errors import MessageError
from kafka_replica.sdmx.messages.format import of_content_type
from kafka_replica.testing.pytest_plugin import TopicMaker
from support.paths import CORPUS
from support.producer.producer_tools import log_of, settings_of
from support.producer.structure_samples import codelist, urn, value_list
from support.waiting import wait_until

ML_2_1 = "application/vnd.sdmx.structure+xml;version=2.1"
ML_3_0 = "application/vnd.sdmx.structure+xml;version=3.0.0"
FUSION = "application/vnd.fusion.json"
KEEP = {"min.compaction.lag.ms": "600000"}


def put(message: str) -> Put:
    """Return a message of one artefact, under its URN."""
    (part,) = split_message(message.encode())
    return Put(str(part.urn), part.value, part.content_type)


def encoded(recorded: Put, wanted: str) -> bytes | None:
    """Return its value in that format."""
    made = as_structures(str(recorded.key).encode(), recorded.value, recorded.content_type, wanted)
    assert made is None or made.content_type == wanted
    return None if made is None else made.value


@pytest.mark.parametrize("wanted", [each for each in media_types() if "spreadsheet" not in each])
def test_a_codelist_is_converted_to_every_format(wanted: str) -> None:
    """A codelist is converted to every format, with the same codes, and the same result each time."""
    made = encoded(put(codelist("CL_A", "A", "B")), wanted)
    assert made is not None
    message = read_message(made, wanted)
    assert message.format is of_content_type(wanted)
    (found,) = message
    assert str(found.urn) == urn("CL_A")
    assert [code.id for code in found.codes.values()] == ["A", "B"]  # type: ignore[attr-defined]
    assert encoded(put(codelist("CL_A", "A", "B")), wanted) == made


@pytest.mark.parametrize(
    ("wanted", "is_in"),
    [
        ("application/vnd.sdmx.json", "application/vnd.sdmx.structure+json;version=2.0.0"),
        ("application/vnd.sdmx.json;version=2.1.0", "application/vnd.sdmx.structure+json;version=2.1.0"),
        ("application/vnd.sdmx.structure+xml; version=3.0.0; charset=utf-8", ML_3_0),
    ],
)
def test_registries_names_of_formats_are_accepted(wanted: str, is_in: str) -> None:
    """Registries' names of formats are accepted, with or without a version; the header shows the setting."""
    assert encoder_of(wanted) is as_structures
    made = encoded(put(codelist("CL_A")), wanted)
    assert made is not None
    assert read_message(made, wanted).format is of_content_type(is_in)


def test_an_unversioned_media_type_does_not_hide_another_edition() -> None:
    """Content called application/vnd.sdmx.json may be SDMX-JSON 1.0, and is then converted."""
    (artefact,) = read_message(codelist("CL_A").encode())
    old = write_message(artefact, "application/vnd.sdmx.structure+json;version=1.0")
    made = encoded(
        Put(urn("CL_A"), old, "application/vnd.sdmx.json"), "application/vnd.sdmx.structure+json;version=2.0.0"
    )
    assert made is not None
    assert made != old
    assert read_message(made).format is of_content_type("application/vnd.sdmx.json;version=2.0.0")


def test_workbooks_by_the_name_that_registries_use() -> None:
    """The name application/vnd.xlsx is accepted like the registered name."""
    assert encoder_of("application/vnd.xlsx") is as_structures


def test_content_in_the_configured_format_keeps_its_bytes() -> None:
    """Content in the configured format is kept byte for byte, whatever the header says."""
    recorded = put(codelist("CL_A"))
    assert encoded(recorded, ML_3_0) == recorded.value
    assert encoded(recorded, "application/vnd.sdmx.structure+xml; version=3.0") == recorded.value
    assert encoded(recorded._replace(content_type=None), ML_3_0) != recorded.value, "nothing says what it is in"


def test_an_unrepresentable_artefact_is_left_out_and_reported(caplog: pytest.LogCaptureFixture) -> None:
    """An artefact that the format cannot represent is left out, with its URN, and a format that can."""
    with caplog.at_level(logging.WARNING, "kafka_replica.producer"):
        assert encoded(put(value_list("VL")), ML_2_1) is None
    assert urn("VL", "ValueList") in caplog.text
    assert "instead" in caplog.text


def test_broken_content_is_an_error_of_the_source() -> None:
    """Content that is not a structure, or not the named one, is reported as an error of the source."""
    good = put(codelist("CL_A"))
    with pytest.raises(MessageError):
        encoded(good._replace(value=b"nothing", content_type=None), FUSION)
    with pytest.raises(MessageError, match="under its own URN"):
        encoded(good._replace(key=urn("CL_B")), FUSION)


def test_the_encoder_is_chosen_by_the_configured_format() -> None:
    """Without a format there is no encoder; an unsupported format is named when the producer is created."""
    assert encoder_of("") is as_recorded
    for wanted in ("text/loud", "application/vnd.sdmx.data+xml;version=3.0.0"):
        with pytest.raises(ConfigurationError, match="choose one of"):
            encoder_of(wanted)
        with pytest.raises(ConfigurationError, match="media_type"):
            StructureProducer(settings_of("nowhere:1", "t", "sqlite://", media_type=wanted))


def test_the_topic_holds_the_format_and_nothing_else(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path
) -> None:
    """An artefact that the format lacks is left out and counted; its old version stays until a full flush."""
    topic, bootstrap = kafka_topic(config=KEEP), local_kafka.bootstrap_servers
    database = f"sqlite:///{tmp_path / 'outbox.db'}"
    with StructureProducer(settings_of(bootstrap, topic, database, media_type=FUSION)) as producer:
        with producer.engine.begin() as connection:
            producer.record(connection, [put(codelist("CL_A")), put(value_list("VL"))])
        wait_until(lambda: producer.status().pending == 0, "both are sent")
        assert producer.status().not_carried == 0
    settings = settings_of(bootstrap, topic, database, media_type=ML_2_1)  # another format from now on
    with StructureProducer(settings) as producer:
        with producer.engine.begin() as connection:
            producer.record(connection, [put(codelist("CL_B")), put(value_list("VL").replace("Euro", "EUR"))])
        wait_until(lambda: producer.status().pending == 0, "one is sent")
        assert producer.status().not_carried == 1
        assert producer.counts.left_out == 1
        log = [(record.key.decode(), record.header("content-type")) for record, _ in log_of(bootstrap, topic)]
        assert log == [
            (urn("CL_A"), FUSION.encode()), (urn("VL", "ValueList"), FUSION.encode()), (urn("CL_B"), ML_2_1.encode()),
        ]  # fmt: skip
        producer.flush()
        wait_until(lambda: producer.status().pending == 0, "the flush is sent")
    present = {record.key.decode(): record for record, _ in log_of(bootstrap, topic)}
    assert present[urn("VL", "ValueList")].value is None, "a flush leaves nothing that the format cannot carry"
    for id_ in ("CL_A", "CL_B"):
        value = present[urn(id_)].value
        assert value is not None
        assert read_message(value).format is of_content_type(ML_2_1)


def corpus_parts() -> Iterator[MessagePart]:
    """Return the artefacts of the real files, as far as they can be split."""
    for file in sorted(CORPUS.rglob("*")):
        if file.is_file() and file.suffix not in {".tsv", ".md"}:
            try:
                yield from split_message(file.read_bytes())
            except Exception:  # noqa: BLE001 - what cannot be read is another test's matter
                continue


@pytest.mark.long
@pytest.mark.corpus
@pytest.mark.skipif(not CORPUS.exists(), reason="the shared corpus is not here: real files are NOT tested")
@pytest.mark.parametrize("wanted", [ML_2_1, FUSION])
def test_real_structures_are_carried_or_left_out(wanted: str) -> None:
    """Every artefact of a real file is published or left out; none stops the producer."""
    done = [as_structures(str(part.urn).encode(), part.value, part.content_type, wanted) for part in corpus_parts()]
    assert len(done) > 1000
    carried = [each for each in done if each is not None]
    assert len(carried) > 0.8 * len(done)


@pytest.mark.parametrize("media_type", [each for each in media_types() if "spreadsheet" not in each])
def test_a_new_message_header_is_not_a_change_of_content(media_type: str) -> None:
    """Another id and time in the header do not change the content; another code does."""
    artefact, other = (next(iter(read_message(codelist("CL_A", code).encode()))) for code in ("A", "B"))
    header = Header(id="OTHER", sender="B", prepared="2027-02-02T00:00:00Z")
    one, same = write_message(artefact, media_type), write_message(artefact, media_type, header)
    assert one != same
    assert fingerprint(one, media_type) == fingerprint(same, media_type)
    assert fingerprint(one, media_type) != fingerprint(write_message(other, media_type), media_type)
