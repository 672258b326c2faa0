"""Declared topics: what the file says, what is obsolete, and how an existing topic differs. Without a broker."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_replica.broker.topic_settings import COMPACTED_TOPIC, recommended_replication_factor, with_min_insync
from kafka_replica.errors import ConfigurationError, KafkaReplicaError
from kafka_replica.topics import TopicDeclaration, TopicDeclarations, TopicNameError, read_declarations
from kafka_replica.topics.comparison import ExistingTopic, differences

FILE = """
env = "folio"
tenants = ["diku", "college"]
[defaults]
partitions = 2
settings = { "cleanup.policy" = "compact", "min.compaction.lag.ms" = 600000 }
[[topics]]
module = "mod-inventory-storage"
entity = "item"
[[topics]]
producer = "users"
entity = "user"
tenants = ["ALL"]
partitions = 6
settings = { retention.ms = -1, "preallocate" = true }
"""


def read(tmp_path: Path, text: str) -> TopicDeclarations:
    """Return the declarations of a file."""
    path = tmp_path / "topics.toml"
    path.write_text(text)
    return read_declarations(path)


def test_a_file_declares_each_topic_for_each_tenant(tmp_path: Path) -> None:
    """Names follow the convention; defaults apply where a topic has no entry of its own."""
    found = read(tmp_path, FILE)
    assert [(topic.name, topic.partitions) for topic in found.topics] == [
        ("folio.diku.inventory.item", 2), ("folio.college.inventory.item", 2), ("folio.ALL.users.user", 6),
    ]  # fmt: skip
    defaults = {"cleanup.policy": "compact", "min.compaction.lag.ms": "600000"}
    assert found.topics[0].settings == defaults
    assert found.topics[2].settings == {**defaults, "retention.ms": "-1", "preallocate": "true"}
    without = read(tmp_path, '[[topics]]\ntenants = ["t"]\nproducer = "p"\nentity = "e"')
    assert without.topics == (TopicDeclaration("t.p.e", 1, None, COMPACTED_TOPIC),)


def test_obsolete_topics_follow_a_declared_convention_and_are_not_declared(tmp_path: Path) -> None:
    """Topics of other environments and of other forms are not obsolete."""
    found = read(tmp_path, FILE)
    declared = [topic.name for topic in found.topics]
    old = ["folio.diku.inventory-storage.item", "folio.diku.inventory.holding", "folio.gone.inventory.item"]
    others = ["other.diku.inventory.holding", "diku.inventory.item", "folio.entitlement", "sdmx.structures"]
    assert found.obsolete([*others, *declared, *reversed(old)]) == old


@pytest.mark.parametrize(
    ("changed", "expected_text"),
    [
        (("partitions = 6", "partition = 6"), "topic 2: there is no entry 'partition'; did you mean 'partitions'?"),
        (("partitions = 6", "partitions = 0"), "topic 2: partitions should be a number above 0"),
        (("partitions = 6", "partitions = true"), "topic 2: partitions should be a number above 0"),
        (('env = "folio"', "env = 3"), "env should be a text"),
        (('["ALL"]', '"ALL"'), "tenants should be a list of texts"),
        (('entity = "user"', ""), "entity is missing"),
        (('producer = "users"', ""), "needs producer="),
        (('producer = "users"', 'producer = "users-storage"'), "should be 'users'"),
        (('producer = "users"', 'producer = "users"\nmodule = "mod-users"'), "exclude each other"),
        (('"preallocate" = true', '"preallocate" = []'), "settings.preallocate should be"),
        (("[defaults]", "[default]"), "there is no entry 'default'; did you mean 'defaults'?"),
        (("partitions = 2", "partitons = 2"), "defaults: there is no entry 'partitons'"),
        (('"users"', '"inventory"\nconvention = "{env}.{producer}"'), "must have {entity}"),
        (('"college"', '"diku"'), "topic 'folio.diku.inventory.item' is declared twice"),
        (("[[topics]]", "[[topic]]"), "there is no entry 'topic'"),
        (('"folio"', '"${NOT_SET_HERE}"'), "NOT_SET_HERE is not set"),
        (("[defaults]", "[defaults"), "as TOML"),
    ],
)
def test_a_wrong_file_is_refused(tmp_path: Path, changed: tuple[str, str], expected_text: str) -> None:
    """The error names the file, the entry, and what is expected."""
    with pytest.raises((ConfigurationError, TopicNameError), match=re.escape(expected_text)):
        read(tmp_path, FILE.replace(*changed))
    with pytest.raises(KafkaReplicaError, match=r"topics\.toml|declared twice"):
        read(tmp_path, FILE.replace(*changed))


def test_a_file_without_topics_or_in_another_format_is_refused(tmp_path: Path) -> None:
    """An empty list of topics would make every topic obsolete."""
    with pytest.raises(ConfigurationError, match=re.escape("topics should be at least one table [[topics]]")):
        read(tmp_path, 'env = "folio"\ntopics = []')
    (tmp_path / "topics.properties").write_text("env=folio")
    with pytest.raises(ConfigurationError, match="in TOML"):
        read_declarations(tmp_path / "topics.properties")


def test_names_that_kafka_does_not_distinguish_collide() -> None:
    """Kafka refuses a topic that differs from another one in dots and underscores only."""
    with pytest.raises(TopicNameError, match=r"'a\.b_c' and 'a_b\.c' differ in dots and underscores only"):
        TopicDeclarations((TopicDeclaration("a.b_c"), TopicDeclaration("a_b.c")))


@given(brokers=st.integers(1, 9), copies=st.none() | st.integers(1, 9), partitions=st.integers(1, 9))
def test_a_topic_that_is_created_as_declared_has_no_differences(
    brokers: int, copies: int | None, partitions: int
) -> None:
    """A topic with the settings that creation gives it does not differ from its declaration."""
    declared = TopicDeclaration("t", partitions, copies, {"cleanup.policy": "compact,delete", "segment.ms": "7"})
    made = copies or recommended_replication_factor(brokers)
    settings = with_min_insync(declared.settings, made)
    of_broker = {"min.insync.replicas": "1", "retention.ms": "604800000"}
    found = ExistingTopic(partitions, made, {**of_broker, **settings}, frozenset(settings))
    assert list(differences(declared, found, brokers)) == []


def test_every_difference_is_reported() -> None:
    """Each has a sentence; equal values in another notation are not a difference."""
    declared = TopicDeclaration(
        "t",
        3,
        1,
        {"cleanup.policy": "delete,compact", "min.cleanable.dirty.ratio": "0.50", "segment.ms": "7", "x": "1"},
    )
    settings = {
        "cleanup.policy": "compact, delete", "min.cleanable.dirty.ratio": "0.5", "segment.ms": "8", "retention.ms": "9",
    }  # fmt: skip
    found = ExistingTopic(2, 3, settings, frozenset({"segment.ms", "retention.ms"}))
    assert list(differences(declared, found, 1)) == [
        "partitions: 2, declared 3; they can be added, never removed",
        "replication factor: 3, declared 1",
        "segment.ms: 8, declared 7",
        "x: Kafka does not have this setting, declared 1",
        "retention.ms: 9, not declared",
    ]


def test_a_declared_minimum_of_replicas_is_kept() -> None:
    """``min.insync.replicas`` is added only where it is not declared."""
    assert with_min_insync({"min.insync.replicas": "1"}, 3) == {"min.insync.replicas": "1"}
    assert with_min_insync({}, 3) == {"min.insync.replicas": "2"}
