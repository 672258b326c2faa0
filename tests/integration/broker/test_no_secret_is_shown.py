"""No secret is ever shown: not in the log at DEBUG, not in an error or a traceback's variables, not by a command."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import (
    AclOperation,
    AdminClient,
    ResourceType,
)

from kafka_replica import ConfigurationError, Replica
from kafka_replica.broker.connection.security import connection_settings
from kafka_replica.doctor import examine
from kafka_replica.errors import AuthenticationError, KafkaReplicaError, WaitTimeoutError
from kafka_replica.producer import TransactionalProducer
from support.broker.access_rights import grant, on_topic
from support.broker.kafka_tools import producer, quiet, write
from support.broker.secured_kafka import USER, Secured
from support.closed_port import closed_port
from support.core.certificates import PASSWORD as KEY_PASSWORD
from support.core.secret_tools import PASSWORD, Attempt, everything_logged, shown
from support.effort import first_in_usual

pytestmark = [pytest.mark.broker, pytest.mark.quiescence_long]

_PATIENCE_S = 60.0
CA = {"ssl.ca.location": "ours.crt"}
ME = {"sasl.username": USER, "sasl.password": PASSWORD}
JAAS = f"org.apache.kafka.common.security.plain.PlainLoginModule required username={USER} password='{PASSWORD}';"


def unsigned_token(secured: Secured, lifetime_s: float = 3600) -> str:
    """A token that the broker accepts."""
    config = secured.config(
        "OAUTH", **{
            "sasl.mechanism": "OAUTHBEARER", "enable.sasl.oauthbearer.unsecure.jwt": "true",
            "sasl.oauthbearer.config": f"principal={USER} lifeSeconds={lifetime_s:.0f}",
        },
    )  # fmt: skip
    token: str = connection_settings(config).kwargs["sasl_oauth_token_provider"]._source().value
    return token


class Case:
    """A kind of login, and its secrets, in plain form and as they are sent."""

    def __init__(self, secured: Secured, mechanism: str) -> None:
        self.secrets = {PASSWORD, KEY_PASSWORD}
        if mechanism == "OAUTHBEARER":
            token = unsigned_token(secured)
            given: dict[str, Any] = {"oauth_cb": lambda _: (token, time.time() + 3600)}
            self.secrets |= {token, token.split(".")[1]}
            self.config = secured.config("OAUTH", **{"sasl.mechanism": mechanism, **given})
        elif mechanism == "mTLS":
            files = {"ssl.certificate.location": "client.crt", "ssl.key.location": "client.locked.key"}
            self.config = secured.config("MTLS", **CA, **files, **{"ssl.key.password": KEY_PASSWORD})
        elif mechanism == "JAAS":
            self.config = secured.config("PLAIN", **{"sasl.jaas.config": JAAS, "sasl.mechanism": "PLAIN"})
        else:
            listener, more = ("PLAIN", {}) if mechanism == "PLAIN" else ("SCRAM", CA)
            self.config = secured.config(listener, **more, **ME, **{"sasl.mechanism": mechanism})
        for sent in (f"\0{USER}\0{PASSWORD}", f"{USER}:{PASSWORD}"):  # by PLAIN, to a server of tokens
            self.secrets.add(base64.b64encode(sent.encode()).decode())

    def check(self, text: str) -> None:
        """Fail if a secret is in the text."""
        for secret in self.secrets:
            at = text.find(secret)
            assert at < 0, f"it shows a secret: {text[max(0, at - 300) : at + 100]}"


MECHANISMS = pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-512", "OAUTHBEARER", "mTLS", "JAAS"])


@pytest.fixture
def topic(secured: Secured, request: pytest.FixtureRequest) -> str:
    """A topic with one record that these users may read and write."""
    name = f"secrets-{abs(hash(request.node.name))}"
    secured.kafka.create_topic(name, 1, {"cleanup.policy": "compact"})
    rights = [*on_topic(name, AclOperation.ALL), (ResourceType.TRANSACTIONAL_ID, "*", AclOperation.ALL)]
    for user in (f"User:{USER}", "User:CN=client"):
        grant(f"127.0.0.1:{secured.ports['PLAINTEXT']}", rights, user)
    write(producer(f"127.0.0.1:{secured.ports['PLAINTEXT']}", name), name, {"k": "v"})
    return name


@MECHANISMS
def test_a_replica_logs_no_secret(secured: Secured, boundaries: str, mechanism: str, topic: str) -> None:
    """No mechanism's secret is logged with every logger at DEBUG, including aiokafka, asyncio and librdkafka."""
    case = Case(secured, mechanism)
    with everything_logged() as log, Replica({**case.config, "debug": "all"}, topic) as replica:
        assert len(replica.wait_ready(timeout_s=_PATIENCE_S)) == 1
        case.check("\n".join(map(repr, (replica, replica.config, replica.status(), replica.status().as_json()))))
        case.check(str(replica.config))
        if mechanism != "JAAS":  # the values are intact for other clients, which do not know JAAS
            assert topic in AdminClient(quiet(replica.config)).list_topics(timeout=_PATIENCE_S).topics
    case.check(log.text)
    if boundaries == "markers" and mechanism != "mTLS":
        assert "SaslAuthenticateRequest" in log.text, "aiokafka's requests are not among what was logged"
        # The data sent for SCRAM is not a password, but sufficient to guess one.
        assert "sasl_auth_bytes" not in log.text
    if boundaries != "markers" or mechanism != "JAAS":
        assert "kafka-replica#" in log.text, "librdkafka's lines are not among what was logged"


_REPLICA = """
import json, logging, logging.config, sys
{before}
from kafka_replica import Replica
{after}
with Replica(json.loads(sys.argv[1]), sys.argv[2], boundaries="markers") as replica:
    replica.wait_ready(timeout_s=60)
"""
_DICT_CONFIG = """
logging.config.dictConfig({
    "version": 1, "disable_existing_loggers": False,
    "handlers": {"out": {"class": "logging.StreamHandler", "stream": "ext://sys.stdout", "filters": []}},
    "loggers": {"aiokafka.conn": {"level": "DEBUG", "handlers": ["out"], "filters": [], "propagate": False}},
})
"""
_FILE_CONFIG = """
import io
lines = "[loggers];keys=root;[handlers];keys=out;[formatters];keys=;[logger_root];level=DEBUG;handlers=out;"
lines += "[handler_out];class=StreamHandler;args=(sys.stdout,)"
logging.config.fileConfig(io.StringIO(lines.replace(";", chr(10))), disable_existing_loggers=False)
"""
_OWN_CLASS = """
class Talkative(logging.Logger):
    def _log(self, level, message, args, **more):
        print(level, message, args, more)
    def isEnabledFor(self, level):
        return True
logging.setLoggerClass(Talkative)
"""
_SERIALIZES = """
class Serializes(logging.Handler):
    def emit(self, record):
        print(vars(record))
logging.getLogger().addHandler(Serializes())
logging.getLogger().setLevel(1)
"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("logging.basicConfig(level=logging.DEBUG, stream=sys.stdout)", ""), ("", _DICT_CONFIG), ("", _FILE_CONFIG),
        (_OWN_CLASS, ""), (_SERIALIZES, ""),
    ],
)  # fmt: skip
def test_no_logging_configuration_shows_a_secret(secured: Secured, topic: str, before: str, after: str) -> None:
    """Requests of aiokafka show no secret, however a program configures logging, before or after the import."""
    config = secured.config("PLAIN", **ME, **{"sasl.mechanism": "PLAIN"})
    done = subprocess.run(
        [sys.executable, "-c", _REPLICA.format(before=before, after=after), json.dumps(config), topic],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "SaslAuthenticateRequest" in done.stdout, "aiokafka's requests are not among what was logged"
    assert PASSWORD not in done.stdout + done.stderr


@MECHANISMS
def test_a_producer_logs_no_secret(secured: Secured, mechanism: str, topic: str) -> None:
    """Neither a producer nor the doctor's findings show a secret."""
    case = Case(secured, mechanism)
    with everything_logged() as log:
        writer = TransactionalProducer({**case.config, "debug": "all"}, topic, "secret-writer")
        with writer.transaction() as transaction:
            transaction.put("k", b"v")
        findings = list(examine(case.config, topic))
    case.check(log.text + repr(writer.__dict__) + repr(findings))
    assert all(finding.severity != "fault" for finding in findings), findings


def never(secured: Secured, timeout_s: float, **properties: Any) -> Callable[[], object]:
    """An action that ends in an error with a replica of these properties."""

    def wait() -> None:
        config = quiet({**secured.config("PLAIN", **ME, **{"sasl.mechanism": "PLAIN"}), **properties})
        with Replica(config, "any", wait_for_topic=False) as replica:
            replica.wait_ready(timeout_s)

    return wait


@pytest.mark.parametrize(
    ("properties", "kinds"),
    [
        ({"sasl.password": f"{PASSWORD}-is-wrong"}, (AuthenticationError,)),
        ({"sasl.mechanism": "SCRAM-SHA-512"}, (AuthenticationError,)),
        ({"security.protocol": "SASL_SSL"}, (KafkaReplicaError,)),
        ({"bootstrap.servers": f"127.0.0.1:{closed_port()}"}, (WaitTimeoutError,)),
        ({"bootstrap.servers": f"{USER}:{PASSWORD}@127.0.0.1:1"}, (KafkaReplicaError,)),
        ({"sasl.pasword": PASSWORD}, (ConfigurationError,)),
        ({"isolation.level": "read_uncommitted"}, (ConfigurationError,)),
        ({"sasl.jaas.config": JAAS.replace(";", "")}, (ConfigurationError,)),
        ({"sasl.jaas.config": JAAS.replace("';", "")}, (ConfigurationError,)),
        ({"sasl.mechanism": "OAUTHBEARER", "oauth_cb": lambda _: (PASSWORD, 0)}, (KafkaReplicaError,)),
        pytest.param(  # waits for ten seconds, as the one before
            {"sasl.mechanism": "OAUTHBEARER", "oauth_cb": lambda _: PASSWORD}, (KafkaReplicaError,),
            marks=pytest.mark.long,
        ),
        (
            {
                "sasl.mechanism": "OAUTHBEARER", "sasl.oauthbearer.method": "oidc", "sasl.oauthbearer.client.id": USER,
                "sasl.oauthbearer.client.secret": PASSWORD,
                "sasl.oauthbearer.token.endpoint.url": f"http://127.0.0.1:{closed_port()}/token",
            },
            (KafkaReplicaError,),
        ),
        (
            {
                "sasl.mechanism": "OAUTHBEARER", "enable.sasl.oauthbearer.unsecure.jwt": "true",
                "sasl.oauthbearer.config": f"principal={PASSWORD} nonsense={PASSWORD} {PASSWORD}",
            },
            (KafkaReplicaError,),
        ),
    ],
)  # fmt: skip
def test_an_error_shows_no_secret(
    secured: Secured, boundaries: str, properties: dict[str, Any], kinds: tuple[type[Exception], ...]
) -> None:
    """Neither the texts of an error and its causes nor the variables of any frame except the user's show a secret."""
    with everything_logged() as log:
        # Who expects another error waits for that.
        timeout_s = 3.0 if issubclass(WaitTimeoutError, kinds) else 60.0
        error = Attempt(never(secured, timeout_s, **properties)).error()
    assert isinstance(error, kinds), error
    Case(secured, "PLAIN").check(shown(error) + log.text)


def test_tls_errors_show_no_secret(secured: Secured) -> None:
    """A wrong password of a private key, given as text, shows neither the password nor the key."""
    key = (secured.folder / "client.locked.key").read_text(encoding="ascii")
    config = {
        **secured.config("MTLS", **CA), "ssl.key.pem": key, "ssl.key.password": PASSWORD,
        "ssl.certificate.pem": (secured.folder / "client.crt").read_text(encoding="ascii"),
    }  # fmt: skip
    error = Attempt(partial(Replica, config, "any", boundaries="markers")).error()
    assert isinstance(error, ConfigurationError), error
    assert PASSWORD not in shown(error)
    assert key.splitlines()[2] not in shown(error)


@pytest.mark.parametrize("password", first_in_usual([f"{PASSWORD}-is-wrong", PASSWORD], 1))
@pytest.mark.parametrize("command", ["doctor", "status"])
def test_a_command_shows_no_secret(secured: Secured, tmp_path: Path, topic: str, command: str, password: str) -> None:
    """Neither the output of a command nor its traceback shows the password of its configuration file."""
    config = secured.config("PLAIN", **{**ME, "sasl.password": password}, **{"sasl.mechanism": "PLAIN"})
    file = tmp_path / "kafka.properties"
    file.write_text("".join(f"{name}={value}\n" for name, value in config.items()), encoding="utf-8")
    kafka_replica = str(Path(sys.executable).with_name("kafka-replica"))
    done = subprocess.run(
        [kafka_replica, command, "--config", str(file), "--config", "debug=all", "--topic", topic, "--timeout-s", "20"],
        capture_output=True, text=True, check=False, timeout=120, env={**os.environ, "KAFKA_REPLICA_DEBUG": "1"},
    )  # fmt: skip
    assert (done.returncode == 0) is (password == PASSWORD), done
    assert PASSWORD not in done.stdout + done.stderr
    assert done.stdout or done.stderr
