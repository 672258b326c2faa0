"""An unanswered commit, its notifications, and secrets that must not be visible."""

from __future__ import annotations

import json
import logging
import os
import re
import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from aiosmtpd.controller import Controller
from confluent_kafka.admin import (
    AclOperation,
    ResourceType,
)

from kafka_replica.embedded import LocalKafka
from kafka_replica.embedded.ports import choose_port
from kafka_replica.producer import Put, StructureProducer
from kafka_replica.producer.configuration_files.configuration import read_configuration
from kafka_replica.producer.errors import OutboxUnavailableError
from kafka_replica.producer.notices.mail import Mailer, MailSettings
from kafka_replica.producer.notices.notices import Notice, Retry, Suspension
from kafka_replica.producer.outbox import Mode
from support.broker.access_rights import grant
from support.broker.secured_kafka import Secured
from support.producer.mail_tools import Inbox
from support.producer.producer_tools import producer_command, settings_of, transactions_of
from support.waiting import wait_until

SECRET = "my-secret"
LONG_S = 180.0  # a broker that resumes may take a while on a busy machine
KEEP = {"cleanup.policy": "compact", "min.compaction.lag.ms": "600000"}


class Freezing(StructureProducer):
    """A handler that freezes the broker when a transaction has arrived there, just before its commit request."""

    kafka: LocalKafka
    frozen = False

    def _step(self, name: str) -> None:
        if name == "handed over" and not self.frozen:
            assert self._runner is not None
            assert self._runner._session is not None
            assert self._runner._session._writer is not None
            self._runner._session._writer._producer.flush(20)
            self.frozen = True
            self.kafka.pause()


@pytest.mark.long
def test_a_commit_that_is_not_answered_is_waited_for(tmp_path: Path) -> None:
    """The status gives the reason, and the administrator gets a mail; later the producer finds the outcome."""
    inbox = Inbox()
    mail_server = Controller(inbox, hostname="127.0.0.1", port=choose_port())
    mail_server.start()
    mailer = Mailer(
        MailSettings("127.0.0.1", ("admin@example.org",), port=mail_server.port, security="none"), "structures"
    )
    received: list[Notice] = []
    with LocalKafka() as kafka:
        kafka.create_topic("t", config=KEEP)
        settings = settings_of(kafka.bootstrap_servers, "t", f"sqlite:///{tmp_path / 'o.db'}", timeout_s=2.0)
        producer = Freezing(settings, observers=[received.append, mailer])
        producer.kafka = kafka
        try:
            with producer.engine.begin() as connection:
                producer.record(connection, [Put("a", b"1")])
                producer.record(connection, [Put("b", b"1")])
            producer.start()
            wait_until(lambda: producer.frozen and len(inbox.messages) == 1, "the mail is there", LONG_S)
            status = producer.status()
            assert (status.mode, status.retrying, status.running) == (Mode.RUNNING, True, False)
            assert (status.failed, status.sent, status.pending) == (None, 0, 2)
            retries = [notice for notice in received if isinstance(notice, Retry)]
            assert [notice.attempt for notice in retries[:4]] == [1, 2, 3, 4]
            assert any("no answer stated whether the transaction was committed" in notice.reason for notice in retries)
            body = inbox.messages[0].get_payload(decode=True)
            assert isinstance(body, bytes)
            assert "failed 4 times" in body.decode()
            assert retries[3].reason in body.decode()
            kafka.resume()
            wait_until(lambda: producer.status().pending == 0, "both are sent", LONG_S)
            assert not any(isinstance(notice, Suspension) for notice in received)
            wait_until(lambda: not producer.status().retrying, "the status says that it is over", LONG_S)
            assert transactions_of(kafka.bootstrap_servers, "t") == [(1, 1), (2, 1)]
        finally:
            kafka.resume()
            producer.close()
            mail_server.stop()


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    """A broker with SASL; without ACLs a user may do nothing."""
    made = Secured(tmp_path_factory.mktemp("locked"))
    yield made
    made.kafka.stop()


def allow(locked: Secured) -> None:
    """Grant all rights to all users."""
    kinds = (ResourceType.TOPIC, ResourceType.TRANSACTIONAL_ID, ResourceType.GROUP)
    grant(f"127.0.0.1:{locked.ports['PLAINTEXT']}", [(kind, "*", AclOperation.ALL) for kind in kinds])


@pytest.mark.long
def test_secrets_are_nowhere(
    locked: Secured, tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """A password in JAAS appears in no log, error, status, table, mail or output, whether rejected or accepted."""
    topic = f"t-{uuid.uuid4().hex}"
    locked.kafka.create_topic(topic, config=KEEP)
    login = f'org.apache.kafka.common.security.plain.PlainLoginModule required username="me" password="{SECRET}";'
    folder = tmp_path / "all"
    folder.mkdir()
    file = tmp_path / "producer.toml"
    file.write_text(f"""
        [producer]
        topic = "{topic}"
        database = "sqlite:///{folder / "o.db"}"
        timeout_s = 5.0
        retries = 0
        first_start = "resume"
        [kafka]
        "bootstrap.servers" = "127.0.0.1:{locked.ports["PLAIN"]}"
        "security.protocol" = "SASL_PLAINTEXT"
        "sasl.jaas.config" = '${{JAAS}}'
        "ssl.key.password" = "${{KEY_PASSWORD}}"
        debug = "security,broker,eos"
        [source]
        url = "http://me:{SECRET}@127.0.0.1:1/sdmx"
        retries = 0
        [mail]
        host = "127.0.0.1"
        to = ["admin@example.org"]
        user = "me"
        password = "{SECRET}"
    """)
    environment = {"JAAS": login, "KEY_PASSWORD": SECRET, "KAFKA_REPLICA_DEBUG": "1"}
    with pytest.MonkeyPatch.context() as patch, caplog.at_level(logging.DEBUG):
        for name, value in environment.items():
            patch.setenv(name, value)
        configuration = read_configuration(file)
        seen = [repr(configuration)]
        received: list[Notice] = []
        with StructureProducer(configuration.producer, observers=[received.append]) as producer:
            with producer.engine.begin() as connection:
                producer.record(connection, [Put("a", b"1")])
            wait_until(lambda: producer.status().mode is Mode.FAILED, "it is refused")
            seen += [json.dumps(producer.status().as_json()), repr(producer.status()), repr(producer.__dict__)]
            allow(locked)

            def resumed() -> bool:
                if producer.status().mode is Mode.FAILED:  # ACLs take a moment to apply
                    producer.resume()
                return producer.status().pending == 0

            wait_until(resumed, f"it is sent: {producer.status()}")
        seen += [repr(received)]
        unreachable = "127.0.0.1:1/sdmx"
        for command in ("status", "suspend", "resume", "run"):
            done = subprocess.Popen(
                producer_command(command, "--config", str(file)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                text=True, env={**os.environ, **environment},
            )  # fmt: skip
            assert done.stdout is not None
            message = ""
            for text in done.stdout:  # until it ends by itself, but for the one that runs on
                message += text
                if command == "run" and unreachable in text:
                    done.terminate()
            done.wait(60)
            done.stdout.close()
            assert message
            seen.append(message)
    output = capfd.readouterr()
    seen += [caplog.text, output.out, output.err]
    assert unreachable in seen[-4], "the service could not be reached, and its address was said"
    everything = "\n".join(seen)
    assert "username" in everything or "PLAIN" in everything, "librdkafka said something of it"
    assert SECRET not in everything
    assert re.search("[*]{3}", (folder / "o.db").read_bytes().decode("latin-1"))
    for each in folder.iterdir():
        assert SECRET.encode() not in each.read_bytes(), each


def test_the_databases_password_is_not_shown() -> None:
    """Neither the error of a missing server nor its cause shows the password."""
    url = f"postgresql+psycopg://me:{SECRET}@127.0.0.1:1/x?connect_timeout=5"
    settings = settings_of("nowhere:1", "t", url, database_wait_s=0.0)
    with pytest.raises(OutboxUnavailableError) as caught:
        StructureProducer(settings)
    error: BaseException | None = caught.value
    while error is not None:
        assert SECRET not in repr(error)
        error = error.__cause__
    assert SECRET not in repr(settings)
