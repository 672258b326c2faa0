"""Declared topics on a real broker: created, compared and obsolete; and docs/topics.md runs as it is written."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import (
    AclOperation,
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    ResourceType,
)

from kafka_replica.embedded import LocalKafka
from kafka_replica.errors import AuthorizationError, BrokerError
from kafka_replica.topics import (
    TopicDeclaration,
    TopicDeclarations,
    TopicNameError,
    TopicReport,
    TopicState,
    check_topics,
    create_topics,
    obsolete_topics,
    read_declarations,
)
from support.broker.access_rights import ANONYMOUS, grant, on_topic
from support.doc_blocks import programs
from support.waiting import wait_until

pytestmark = pytest.mark.broker

DECLARED = programs("docs/topics.md", language="toml")[0]


@pytest.fixture
def env(monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of an environment that no other test uses."""
    name = f"env{os.urandom(4).hex()}"
    monkeypatch.setenv("ENV", name)
    return name


@pytest.fixture
def config(local_kafka: LocalKafka) -> dict[str, Any]:
    """The client's properties."""
    return {"bootstrap.servers": local_kafka.bootstrap_servers}


def alter(config: dict[str, Any], topic: str, **settings: str) -> None:
    """Change settings of a topic."""
    entries = [
        ConfigEntry(name.replace("_", "."), value, incremental_operation=AlterConfigOpType.SET)
        for name, value in settings.items()
    ]
    resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=entries)
    admin = AdminClient(config)  # it has to live until the answer comes
    admin.incremental_alter_configs([resource])[resource].result(20)


@pytest.mark.runs("docs/topics.md", language="toml")
def test_topics_are_created_once_and_compared(config: dict[str, Any], env: str, tmp_path: Path) -> None:
    """Created topics are as declared; changes by others are reported, and never undone."""
    (tmp_path / "topics.toml").write_text(DECLARED)
    declared = read_declarations(tmp_path / "topics.toml")
    names = [topic.name for topic in declared.topics]
    assert {report.state for report in check_topics(config, declared)} == {TopicState.MISSING}
    assert create_topics(config, declared) == [TopicReport(name, TopicState.CREATED) for name in names]
    as_declared = [TopicReport(name, TopicState.AS_DECLARED) for name in names]
    assert create_topics(config, declared) == check_topics(config, declared) == as_declared
    item = f"{env}.diku.inventory.item"
    alter(config, item, cleanup_policy="delete", retention_ms="86400000")
    admin = AdminClient(config)
    admin.create_partitions([NewPartitions(item, 3)])[item].result(20)
    changed = TopicReport(item, TopicState.DIFFERENT, (
        "partitions: 3, declared 2", "cleanup.policy: delete, declared compact",
        "retention.ms: 86400000, not declared",
    ))  # fmt: skip
    expected = [changed, *as_declared[1:]]
    wait_until(lambda: check_topics(config, declared) == expected)  # brokers learn of changes a little later
    assert create_topics(config, declared) == expected


def test_obsolete_topics_are_those_of_the_environment(config: dict[str, Any], env: str, tmp_path: Path) -> None:
    """Only topics of the declared form and environment are obsolete."""
    (tmp_path / "topics.toml").write_text(DECLARED)
    declared = read_declarations(tmp_path / "topics.toml")
    create_topics(config, declared)
    assert obsolete_topics(config, declared) == []
    others = [f"{env}.diku.inventory-storage.item", f"{env}.diku.users.user", f"{env}.old", f"{env}2.a.b.c", f"{env}-x"]
    create_topics(config, TopicDeclarations(tuple(map(TopicDeclaration, others))))
    assert obsolete_topics(config, declared) == others[:3]


def test_a_name_that_collides_with_an_existing_topic_is_refused_before_any_is_created(
    config: dict[str, Any], env: str
) -> None:
    """Kafka would refuse it in the middle; nothing is created."""
    create_topics(config, TopicDeclarations((TopicDeclaration(f"{env}_a.b"),)))
    wanted = TopicDeclarations((TopicDeclaration(f"{env}.first"), TopicDeclaration(f"{env}.a_b")))
    with pytest.raises(TopicNameError, match="differ in dots and underscores only"):
        create_topics(config, wanted)
    assert {report.state for report in check_topics(config, wanted)} == {TopicState.MISSING}


def test_a_setting_that_kafka_does_not_know_is_reported(config: dict[str, Any], env: str) -> None:
    """The error names the topic and the setting."""
    wrong = TopicDeclarations((TopicDeclaration(f"{env}.x", settings={"cleanup.polic": "compact"}),))
    with pytest.raises(BrokerError, match=rf"{env}\.x.*cleanup\.polic"):
        create_topics(config, wrong)


def command(line: str, folder: Path, bootstrap: str, status: int = 0) -> str:
    """Run a line of the page; return its output."""
    program, *arguments = shlex.split(line, comments=True)
    done = subprocess.run(
        [str(Path(sys.executable).with_name(program)), *arguments], cwd=folder, capture_output=True, text=True,
        timeout=120, check=False, env={**os.environ, "KAFKA_REPLICA_BOOTSTRAP_SERVERS": bootstrap},
    )  # fmt: skip
    assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
    return done.stdout


@pytest.mark.long
@pytest.mark.runs("docs/topics.md", language="sh")
def test_the_commands_of_the_page_run(local_kafka: LocalKafka, env: str, tmp_path: Path) -> None:
    """The commands print what the page says, and exit with 3 where topics are not as declared."""
    bootstrap = local_kafka.bootstrap_servers
    (tmp_path / "topics.toml").write_text(DECLARED)
    names, declared = programs("docs/topics.md", language="sh")
    printed = [command(line, tmp_path, bootstrap) for line in names.splitlines()]
    assert printed[0] == "folio.diku.inventory.item\n"
    assert re.fullmatch(printed[1].strip(), "folio.college.inventory.item")
    assert json.loads(printed[2]) == {"env": "folio", "tenant": "diku", "producer": "inventory", "entity": "item"}
    assert printed[3] == "cg.search\n"
    assert "missing" in command("kafka-replica topics check topics.toml", tmp_path, bootstrap, status=3)
    create, check, obsolete = declared.splitlines()
    assert command(create, tmp_path, bootstrap).count("created") == 4
    lines = [json.loads(line) for line in command(check.replace("#", "--json #"), tmp_path, bootstrap).splitlines()]
    assert lines[0] == {"topic": f"{env}.diku.inventory.item", "state": "as declared", "differences": []}
    assert command(obsolete, tmp_path, bootstrap) == ""
    assert "different" not in command(create, tmp_path, bootstrap)
    alter({"bootstrap.servers": bootstrap}, f"{env}.entitlement", cleanup_policy="delete")
    config = {"bootstrap.servers": bootstrap}
    declarations = read_declarations(tmp_path / "topics.toml")
    wait_until(lambda: not all(report.is_right for report in check_topics(config, declarations)))
    assert "  cleanup.policy: delete, declared compact" in command(check, tmp_path, bootstrap, status=3)


@pytest.mark.runs("docs/topics.md", language="python")
def test_the_examples_of_the_page_run(capsys: pytest.CaptureFixture[str]) -> None:
    """Each printed line is what the comment next to it says."""
    names: dict[str, Any] = {}
    for block in programs("docs/topics.md", language="python"):
        exec(block, names)
    assert capsys.readouterr().out.splitlines() == [
        "folio.diku.inventory.item", "diku", "cg.search",
        "['folio.college.inventory.item', 'folio.diku.inventory.item']", "folio.",
    ]  # fmt: skip


@pytest.fixture
def restrictive() -> Iterator[LocalKafka]:
    """A broker with ACLs, on which everything is allowed that no ACL is about."""
    settings = {
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "allow.everyone.if.no.acl.found": True,
    }
    with LocalKafka(settings=settings) as kafka:
        yield kafka


@pytest.mark.long
def test_topics_that_we_may_create_and_not_see(restrictive: LocalKafka) -> None:
    """The right Create is sufficient to create topics; only comparing needs more."""
    config: dict[str, Any] = {"bootstrap.servers": restrictive.bootstrap_servers}
    grant(restrictive.bootstrap_servers, on_topic("hidden", AclOperation.CREATE), ANONYMOUS)
    declared = TopicDeclarations((TopicDeclaration("hidden"), TopicDeclaration("seen")))
    assert create_topics(config, declared, timeout_s=10) == [
        TopicReport("hidden", TopicState.CREATED), TopicReport("seen", TopicState.CREATED)
    ]  # fmt: skip
    with pytest.raises(AuthorizationError, match="hidden"):
        create_topics(config, declared, timeout_s=10)
