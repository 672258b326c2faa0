"""The commands as scripts use them: in a separate process, on a real broker."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka.admin import AclOperation

from kafka_replica.embedded import LocalKafka
from kafka_replica.sdmx.samples import sample_files
from kafka_replica.testing.pytest_plugin import TopicMaker
from support.broker.access_rights import grant, on_topic
from support.broker.kafka_tools import producer, wait_decided, write, write_without_key
from support.cli.broker_commands import Command
from support.effort import first_in_usual

pytestmark = pytest.mark.broker

FREQ = "urn:sdmx:org.sdmx.infomodel.codelist.Codelist=SDMX:CL_FREQ(2.1)"
AREAS = "urn:sdmx:org.sdmx.infomodel.codelist.Codelist=KR_DEMO:CL_REF_AREA(1.0)"


@pytest.fixture(scope="module")
def sample(local_kafka: LocalKafka) -> Iterator[Command]:
    """The commands on a topic with the project's sample, which tests only read."""
    topic = local_kafka.create_topic(f"cli-{uuid.uuid4().hex[:12]}", 1, {"cleanup.policy": "compact"})
    made = Command(local_kafka.bootstrap_servers, topic)
    made.run("publish", *map(str, sample_files()))
    yield made
    local_kafka.delete_topic(topic)


@pytest.fixture
def own_sample(command: Command) -> Command:
    """Return the commands on a topic with the sample, which the test may change."""
    command.run("publish", *map(str, sample_files()))
    return command


def test_publish_then_dump(sample: Command) -> None:
    """``dump`` prints one record per artefact, key = URN, value = its own message, in key order; last the version."""
    *lines, last = sample.json("dump")
    assert len(lines) == last["keys"] == 15
    assert last["version"] == 1
    assert last["position"] == {f"{sample.topic}-0": 16}
    assert [line["key"] for line in lines] == sorted(line["key"] for line in lines)
    assert set(lines[0]) == {"key", "partition", "offset", "timestamp_ms", "size", "sha256"}
    freq = next(line for line in lines if line["key"] == FREQ)
    value = sample.run("get", FREQ).stdout
    assert (freq["size"], freq["sha256"]) == (len(value), hashlib.sha256(value).hexdigest())
    assert b"CL_FREQ" in value
    assert b"CL_REF_AREA" not in value


def test_get_with_json_prints_value_headers_place_and_digest(sample: Command) -> None:
    """``get --json`` prints value, headers (including the content type), place and digest."""
    (line,) = sample.json("get", FREQ)
    assert {"name": "content-type", "value": "application/vnd.sdmx.structure+xml;version=2.1"} in line["headers"]
    assert hashlib.sha256(line["value"].encode()).hexdigest() == line["sha256"]


def test_get_of_a_missing_key_fails(sample: Command) -> None:
    """``get`` of a missing key exits with status 1, nothing on stdout, a sentence on stderr."""
    done = sample.run("get", "urn:nothing", status=1)
    assert done.stdout == b""
    assert b"there is no key urn:nothing" in done.stderr


def test_list_by_pattern(sample: Command) -> None:
    """``list`` prints all keys, those that contain a word, or those that match wildcards; as text only the keys."""
    assert len(sample.json("list")) == 15
    assert sample.run("list", "CL_FREQ").stdout.decode().splitlines() == [FREQ]
    assert sample.run("list", "*=SDMX:CL_????(*)").stdout.decode().splitlines() == [FREQ]
    assert sample.run("list", "CL_FR*").stdout.decode().splitlines() == [FREQ]
    done = sample.run("list", "CX_*", "--json")
    assert done.stdout == b""
    assert b"no key matches 'CX_*', which is compared with keys, and ids and references of artefacts" in done.stderr


def test_status_is_zero_only_when_live(own_sample: Command) -> None:
    """``status`` is 0 with all JSON fields if live, and 1 if blocked by an open transaction; markers do not block."""
    (status,) = own_sample.json("status")
    assert (status["state"], status["ready"], status["keys"]) == ("live", True, 15)
    assert "live" in own_sample.run("status").stdout.decode()
    hanging = producer(own_sample.bootstrap, own_sample.topic)
    write(hanging, own_sample.topic, {"k": "v"}, commit=None)
    (status,) = own_sample.json("status")
    assert (status["state"], status["blocking_transaction"]) == ("live", f"{own_sample.topic}-0@16")
    done = own_sample.run("status", "--json", "--timeout-s", "8", "--boundaries", "quiescence", status=1)
    assert json.loads(done.stdout)["state"] == "blocked"
    assert b"a transaction is open" in done.stderr
    hanging.abort_transaction()


def test_watch_prints_a_line_a_version(own_sample: Command) -> None:
    """``watch`` first prints the whole state, then each transaction; SIGTERM ends it with status 0."""
    watching = subprocess.Popen(own_sample.line("watch", "--json"), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert watching.stdout is not None
    first = json.loads(watching.stdout.readline())
    assert (first["version"], first["initial"], len(first["changed"]), first["deleted"]) == (1, True, 15, [])
    own_sample.run("publish", "--delete", FREQ, AREAS)
    second = json.loads(watching.stdout.readline())
    assert second == {
        "version": 2,
        "position": {f"{own_sample.topic}-0": wait_decided(own_sample.bootstrap, own_sample.topic)},
        "transactions": 1,
        "initial": False,
        "changed": [],
        "deleted": [AREAS, FREQ],
    }
    watching.send_signal(signal.SIGTERM)
    assert watching.wait(60) == 0
    assert watching.stderr is not None
    assert watching.stderr.read() == b""
    watching.stdout.close()
    watching.stderr.close()


def test_publish_creates_the_topic_on_request(local_kafka: LocalKafka) -> None:
    """Without --create-topic a missing topic is an error; with it, the topic is created, compacted."""
    fresh = Command(local_kafka.bootstrap_servers, f"made-{time.time_ns()}")
    file = str(sample_files()[0])
    assert b"Unknown topic" in fresh.run("publish", file, status=1).stderr
    assert fresh.json("publish", file, "--create-topic")[-1]["published"] > 0
    from kafka_replica.broker.admin.topics import Topics

    topics = Topics({"bootstrap.servers": local_kafka.bootstrap_servers})
    assert topics.settings(fresh.topic, 10)["cleanup.policy"] == "compact"


def test_publish_is_one_transaction_or_nothing(command: Command, tmp_path: Path) -> None:
    """A damaged file among good ones gives status 1 and is named; nothing is published."""
    bad = tmp_path / "bad.xml"
    bad.write_bytes(sample_files()[0].read_bytes()[:500])
    done = command.run("publish", str(sample_files()[1]), str(bad), status=1)
    assert b"bad.xml" in done.stderr
    assert command.json("dump")[-1]["keys"] == 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    first_in_usual([
        (["publish", "/no/such/file"], b"there is no file or folder /no/such/file"),
        (["publish", "--delete", FREQ.replace("Codelist=", "Code=")], b"is an item"),
        (["dump", "--config", "no.such.property=1"], b"no.such.property"),
        (["publish"], b"nothing to publish"),
        (["publish", "--delete", "CL_FREQ"], b"CL_FREQ"),
        (["publish", "--delete", FREQ.replace("Codelist=", "Code=") + ".A"], b"is an item"),
        (["publish", "--delete", FREQ.replace("2.1", "*")], b"may match several artefacts"),
        (["dump", "--config", "isolation.level=read_uncommitted"], b"aborted records"),
        (["dump", "--config", "nonsense"], b"neither a file nor KEY=VALUE"),
    ], 3),
)  # fmt: skip
def test_a_mistake_gives_one_line_without_a_stack_trace(command: Command, arguments: list[str], says: bytes) -> None:
    """A mistake gives status 2 and one line with the error, without a stack trace."""
    done = command.run(*arguments, status=2)
    assert says in done.stderr
    assert b"Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_config_file_and_its_secrets(sample: Command, tmp_path: Path) -> None:
    """Properties come from a file too; a bad line is reported by number and name, never with its value."""
    good = tmp_path / "good.properties"
    good.write_text(f"\ufeff# a comment\nbootstrap.servers={sample.bootstrap}\nclient.id = tester\n")
    line = [*sample.line("dump", "--json")[:3], "--topic", sample.topic, "--config", str(good)]
    done = subprocess.run(line, capture_output=True, timeout=60, check=True)
    assert json.loads(done.stdout.splitlines()[-1])["keys"] == 15
    bad = tmp_path / "bad.properties"
    bad.write_text("sasl.password=hunter2\nsasl.pasword hunter2\n")
    done = sample.run("dump", "--config", str(bad), status=2)
    assert b"line 2: Kafka's clients have no property 'sasl.pasword'; did you mean 'sasl.password'?" in done.stderr
    assert b"hunter2" not in done.stderr
    long = sample.run("dump", "--config", "no.such=" + "hunter2" * 50, status=2)
    assert b"hunter2" not in long.stderr


def test_a_missing_broker_is_reported_before_the_timeout() -> None:
    """Without a broker, status 1 and advice come well before the timeout."""
    began_s = time.monotonic()
    done = Command("127.0.0.1:1", "t").run("dump", "--json", status=1)
    assert time.monotonic() - began_s < 30
    assert b"no broker answered in " in done.stderr
    assert done.stderr.splitlines()[-1].count(b"127.0.0.1:1") == 1  # a warning may come before, on a slow machine
    assert done.stdout == b""


def test_a_reader_that_has_seen_enough(sample: Command) -> None:
    """``kafka-replica list | head -1`` ends without a complaint."""
    line = " ".join(f"'{word}'" for word in sample.line("list"))
    script = f"{line} | head -1"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {line} | head -0"], capture_output=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (141, b"")
    done = subprocess.run(["bash", "-c", script], capture_output=True, timeout=60, check=False)
    assert done.stdout.count(b"\n") == 1
    assert done.stderr == b""


@pytest.mark.long
def test_the_locale_does_not_matter(command: Command) -> None:
    """Keys beyond ASCII come through with any locale of the terminal."""
    write(producer(command.bootstrap, command.topic), command.topic, {"klé\u2028": "1"})
    for arguments in (["dump", "--json"], ["list"]):
        done = subprocess.run(
            command.line(*arguments), capture_output=True, timeout=60, check=False,
            env={**os.environ, "PYTHONIOENCODING": "ascii"},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    assert command.json("dump")[0]["key"] == "klé\u2028"
    assert command.run("get", "klé\u2028").stdout == b"1"


def test_keys_that_are_not_text(command: Command) -> None:
    """Bytes that are not UTF-8 are distinguished from every text: as base64, in an object."""
    writer = producer(command.bootstrap, command.topic)
    writer.begin_transaction()
    writer.produce(command.topic, key=b"\xff", value=b"1")
    writer.commit_transaction()
    assert command.json("dump")[0]["key"] == {"base64": "/w=="}
    got = subprocess.run(
        [os.fsencode(word) for word in command.line("get")] + [b"\xff"], capture_output=True, check=True
    )
    assert got.stdout == b"1"


@pytest.mark.parametrize("words", ["status", "watch"])
def test_an_error_that_ends_a_command_is_its_last_line_and_the_only_one(
    words: str, local_kafka: LocalKafka, kafka_topic: TopicMaker
) -> None:
    """The log line of the replica about the same error is left out."""
    topic = kafka_topic("cli-bad", config={"cleanup.policy": "delete"})
    write_without_key(producer(local_kafka.bootstrap_servers, topic), topic)
    (line,) = Command(local_kafka.bootstrap_servers, topic).run(words, status=1).stderr.decode().splitlines()
    assert f"kafka-replica: record at {topic}-0, offset 0" in line
    assert "ERROR" not in line


@pytest.mark.long
def test_a_missing_permission_is_explained_without_lines_of_the_client() -> None:
    """The client, librdkafka, reports a fatal error at level CRITICAL, which the message of the command explains."""
    with LocalKafka(users={"writer": "simple"}) as kafka:
        topic = kafka.create_topic("t", config={"cleanup.policy": "compact"})
        grant(kafka.bootstrap_servers, on_topic(topic, AclOperation.READ, AclOperation.WRITE), "User:writer")
        properties = kafka.user_config("writer")
        command = Command(properties.pop("bootstrap.servers"), topic)
        options = [word for name, value in properties.items() for word in ("--config", f"{name}={value}")]
        doctor = command.run("doctor", *options, status=1)
        assert b"the transactional id tx-doctor" in doctor.stdout
        assert doctor.stderr == b""
        (line,) = command.run("publish", str(sample_files()[0]), *options, status=1).stderr.splitlines()
        assert b"permission to Write" in line
        assert b"CRITICAL" not in line
