"""Secrets of a producer's configuration stay secret: passwords of its database, Kafka, services and mail."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import make_url

from kafka_replica.errors import ConfigurationError
from kafka_replica.producer import ProducerSettings, Put, StructureProducer
from kafka_replica.producer.configuration_files.configuration import read_configuration
from kafka_replica.producer.errors import OutboxUnavailableError, SourceError
from kafka_replica.producer.notices.mail import Mailer, MailSettings
from kafka_replica.producer.notices.notices import Suspension
from kafka_replica.producer.outbox import open_database
from kafka_replica.producer.outbox.database import outbox_errors
from kafka_replica.producer.sources import ServiceSettings, ServiceSource
from support.closed_port import closed_port
from support.core.secret_tools import PASSWORD, Attempt, everything_logged, shown
from support.producer.mail_tools import mail_server
from support.producer.postgres_tools import LocalPostgres
from support.producer.sdmx_service import Response, SdmxService

_SECRETS = (
    PASSWORD, base64.b64encode(f"\0me\0{PASSWORD}".encode()).decode(),
    base64.b64encode(f"me:{PASSWORD}".encode()).decode(),
)  # fmt: skip


def check(text: str) -> None:
    """Fail if a secret is in the text."""
    for secret in _SECRETS:
        at = text.find(secret)
        assert at < 0, text[max(0, at - 300) : at + 100]


def test_a_configuration_hides_its_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the settings read from a file nor any part of them shows a secret; the values are intact."""
    monkeypatch.setenv("SECRET", PASSWORD)
    file = tmp_path / "producer.toml"
    file.write_text(
        """
        [producer]
        topic = "FOO"
        database = "postgresql+psycopg://me:${SECRET}@localhost/registry?sslpassword=${SECRET}"
        [kafka]
        "bootstrap.servers" = "localhost:9092"
        "sasl.password" = "${SECRET}"
        "sasl.jaas.config" = "x.PlainLoginModule required username=me password=${SECRET};"
        [source]
        url = "https://me:${SECRET}@example.org/sdmx/v2"
        token = "${SECRET}"
        [mail]
        host = "localhost"
        to = ["admin@example.org"]
        password = "${SECRET}"
        """,
        encoding="utf-8",
    )
    found = read_configuration(file)
    check("".join(map(repr, (found, *(vars(part) for part in found if part is not None)))))
    assert repr(found.producer.database) == "'postgresql+psycopg://me:***@localhost/registry?sslpassword=***'"
    assert found.producer.database == (f"postgresql+psycopg://me:{PASSWORD}@localhost/registry?sslpassword={PASSWORD}")
    assert found.producer.kafka["sasl.password"] == PASSWORD
    assert found.mail is not None
    assert f"{found.mail.password}" == PASSWORD


def test_the_databases_password_is_not_logged(postgres: LocalPostgres) -> None:
    """With SQLAlchemy's echo and every logger at DEBUG neither the database's nor Kafka's password is logged."""
    url = postgres.url("secrets")
    kafka = {"bootstrap.servers": f"127.0.0.1:{closed_port()}", "sasl.password": PASSWORD, "ssl.key.pem": PASSWORD}
    with everything_logged() as log:
        engine = open_database(url, echo="debug", echo_pool="debug")
        settings = ProducerSettings("FOO", kafka, engine)
        producer = StructureProducer(settings)
        with engine.begin() as connection:
            producer.record(connection, [Put("a", b"1")])
        producer.close()
        engine.dispose()
    assert "INSERT INTO kafka_producer_tx" in log.text, "SQLAlchemy's lines are not among what was logged"
    check(log.text)
    assert postgres.password not in log.text + repr(engine) + repr(settings)


@pytest.mark.parametrize("trouble", ["wrong password", "nobody there", "wrong port"])
def test_a_database_error_shows_no_password(postgres: LocalPostgres, trouble: str) -> None:
    """Neither the texts of a database error nor variables of SQLAlchemy's and psycopg's frames show the password."""
    url = make_url(postgres.url("secrets")).set(username="me", password=PASSWORD)
    if trouble == "nobody there":
        url = url.set(port=closed_port())
    text = url.render_as_string(hide_password=False)
    if trouble == "wrong port":
        text = text.replace(f":{postgres.port}/", ":port/")

    def connect() -> None:
        engine = open_database(text, connect_args={"connect_timeout": 5})
        with outbox_errors("looking"):
            engine.connect()

    with everything_logged() as log:
        error = Attempt(connect).error()
    assert isinstance(error, ConfigurationError if trouble == "wrong port" else OutboxUnavailableError), error
    check(shown(error) + log.text)


def test_a_mails_password_is_not_shown(tmp_path: Path) -> None:
    """The mail password is not shown, whether the server accepts or rejects it."""
    for password, is_right in ((PASSWORD, True), (f"{PASSWORD}-is-wrong", False)):
        with mail_server(tmp_path, "me", PASSWORD) as (inbox, server, ca_file), everything_logged() as log:
            settings = MailSettings(
                "127.0.0.1", ("admin@example.org",), "producer@example.org", server.port, user="me",
                password=password, ca_file=ca_file,
            )  # fmt: skip
            Mailer(settings, "structures")(Suspension(17, 3, "Kafka says no"))
        assert len(inbox.messages) == is_right
        assert ("was not sent" in log.text) is not is_right
        ours = "\n".join(line for line in log.lines if not line.startswith("mail.log"))  # that is the server's log
        check(ours + repr(settings) + repr(vars(settings)))


@pytest.mark.parametrize("kind", ["password", "token", "url"])
def test_a_services_secrets_are_not_shown(kind: str) -> None:
    """A service's secrets are not shown on success, on rejection, or without a listener."""

    def source(url: str) -> ServiceSource:
        if kind == "url":
            return ServiceSource(ServiceSettings(url.replace("://", f"://me:{PASSWORD}@"), retries=0))
        given: dict[str, Any] = {"user": "me", "password": PASSWORD} if kind == "password" else {"token": PASSWORD}
        return ServiceSource(ServiceSettings(url, retries=0, **given))

    with everything_logged() as log, SdmxService() as service:
        errors = [Attempt(source(f"http://127.0.0.1:{closed_port()}/sdmx").read).error()]
        service.answers["*"] = Response("who are you?", 401)
        errors.append(Attempt(source(service.url).read).error())
    assert all(isinstance(error, SourceError) for error in errors), errors
    check("".join(map(shown, errors)) + log.text)
