"""The users of the embedded broker, before it starts."""

from __future__ import annotations

import pytest

from kafka_replica.embedded import EmbeddedKafkaError, LocalKafka


@pytest.mark.parametrize(
    ("users", "settings", "expected_text"),
    [
        ({"my user": "x"}, {}, "users has the name 'my user'; use letters"),
        ({'a="b" user_c': "x"}, {}, "users has the name"),
        ({"": "x"}, {}, "users has the name ''"),
        ({"a": ""}, {}, "the password of user a is empty"),
        ({"a": "new\nline"}, {}, "the password of user a is empty or has control characters"),
        ({"a": "x"}, {"listeners": "PLAINTEXT://:1"}, "users= adds a listener, and settings= has listeners; use one"),
    ],
)
def test_users_that_are_impossible_are_refused_at_once(
    users: dict[str, str], settings: dict[str, object], expected_text: str
) -> None:
    """A name or password could otherwise end the broker's own setting, or change it."""
    with pytest.raises(EmbeddedKafkaError, match=expected_text) as raised:
        LocalKafka(users=users, settings=settings)
    assert "x;" not in str(raised.value)


def test_the_address_of_a_user_is_known_after_the_start() -> None:
    """Before, the error says what to call; a password is never shown."""
    kafka = LocalKafka(users={"a": "my-secret"})
    with pytest.raises(EmbeddedKafkaError, match=r"properties of user a: .* call start\(\) first"):
        kafka.user_config("a")
    with pytest.raises(EmbeddedKafkaError, match=r"its users are none: name them with LocalKafka\(users="):
        LocalKafka().user_config("a")
    assert "my-secret" not in f"{kafka!r}{kafka._options!r}"
