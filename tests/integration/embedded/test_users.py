"""LocalKafka(users=...): a login at a port of its own, and permissions by Kafka's ACLs."""

from __future__ import annotations

import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import AclOperation, AdminClient, ResourceType

from kafka_replica import Replica
from kafka_replica.embedded import EmbeddedKafkaError, LocalKafka
from kafka_replica.errors import AuthenticationError, AuthorizationError
from kafka_replica.producer import TransactionalProducer
from support.broker.access_rights import grant, on_topic
from support.broker.kafka_tools import quiet

pytestmark = pytest.mark.broker
_USERS = {"reader": "simple", "writer-1": 'a "quoted" \\ = {word}; ü'}
_COMPACTED = {"cleanup.policy": "compact"}


@pytest.mark.long
def test_users_log_in_and_may_do_what_they_were_allowed_also_after_a_restart() -> None:
    """The port of the users stays the same; a password may have any printable character."""
    with LocalKafka(users=_USERS) as kafka:
        topic = kafka.create_topic("t", config=_COMPACTED)
        reader, writer = kafka.user_config("reader"), kafka.user_config("writer-1")
        with pytest.raises(AuthorizationError, match="Read"), Replica(reader, topic) as replica:
            replica.wait_ready(timeout_s=60)
        grant(kafka.bootstrap_servers, on_topic(topic, AclOperation.READ), "User:reader")
        rights = [*on_topic(topic, AclOperation.WRITE), (ResourceType.TRANSACTIONAL_ID, "w", AclOperation.WRITE)]
        grant(kafka.bootstrap_servers, rights, "User:writer-1")
        kafka.restart()
        assert kafka.user_config("writer-1") == writer
        with TransactionalProducer(writer, topic, "w").transaction() as transaction:
            transaction.put("a", b"1")
        with Replica(reader, topic) as replica:
            assert replica.wait_for(transaction.committed.position, timeout_s=60)["a"].value == b"1"


@pytest.mark.long
def test_a_wrong_password_is_refused() -> None:
    """The clients without login are not affected."""
    with LocalKafka(users=_USERS) as kafka:
        topic = kafka.create_topic("t", config=_COMPACTED)
        wrong = {**kafka.user_config("reader"), "sasl.password": "wrong"}
        with pytest.raises(AuthenticationError, match="reader"), Replica(wrong, topic) as replica:
            replica.wait_ready(timeout_s=60)
        with pytest.raises(KafkaException):
            AdminClient(quiet(wrong)).list_topics(timeout=3)
        with Replica({"bootstrap.servers": kafka.bootstrap_servers}, topic) as replica:
            assert len(replica.wait_ready(timeout_s=60)) == 0
        with pytest.raises(EmbeddedKafkaError, match=r"user other: .* its users are reader, writer-1"):
            kafka.user_config("other")


@pytest.mark.long
def test_a_login_at_the_listener_of_the_library_has_advice() -> None:
    """The start cannot log in there, so it never sees an answer."""
    settings = {
        "listener.security.protocol.map": "PLAINTEXT:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT",
        "sasl.enabled.mechanisms": "PLAIN",
        "sasl.mechanism.inter.broker.protocol": "PLAIN",
        "listener.name.plaintext.plain.sasl.jaas.config": (
            'org.apache.kafka.common.security.plain.PlainLoginModule required user_a="b";'
        ),
    }
    with pytest.raises(EmbeddedKafkaError, match="leave it without one, and use users="):
        LocalKafka(settings=settings, start_timeout_s=10).start()
