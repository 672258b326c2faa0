"""``make demo-directory`` in a short form: it ends well, and leaves nothing behind."""

from __future__ import annotations

import re
import subprocess
import sys

import psutil
import pytest
from confluent_kafka.admin import AdminClient

from kafka_replica.embedded import LocalKafka
from support.paths import ROOT
from support.producer.postgres_tools import LocalPostgres
from support.producer.table_tools import open_connection

SHORT = ["--rows", "2000", "--seconds", "2"]
WITHOUT_POSTGRES = """
import kafka_replica.demo.context as context
from kafka_replica.demo.__main__ import main
context.find_binaries = lambda: None
raise SystemExit(main([]))
"""


def run(*words: str) -> subprocess.CompletedProcess[str]:
    """Run Python; the output is not a terminal."""
    return subprocess.run([sys.executable, *words], check=False, capture_output=True, text=True, timeout=240)


@pytest.mark.long
@pytest.mark.parametrize(
    "own_server", [pytest.param(True, id="own server"), pytest.param(False, id="given server", marks=pytest.mark.long)]
)
def test_the_demonstration_ends_well_and_leaves_nothing(
    local_kafka: LocalKafka, postgres: LocalPostgres, own_server: bool
) -> None:
    """All parts hold, with a server of its own and with a given one; topics, schemas and processes are gone."""
    url = postgres.url("demo")
    given = [] if own_server else ["--database", url.replace("+psycopg", "")]
    options = [*SHORT, "--bootstrap-server", local_kafka.bootstrap_servers, *given]
    done = run("-m", "kafka_replica.demo", *options)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert "Each step had the expected result" in done.stdout
    assert len(re.findall(r"[\d,]+ look-ups per second; \w+", done.stdout)) >= 2
    topics = AdminClient({"bootstrap.servers": local_kafka.bootstrap_servers}).list_topics(timeout=30).topics
    assert not [name for name in topics if name.startswith("demo.terminals")]
    if own_server:
        port = re.findall(r"PostgreSQL listens at 127.0.0.1:(\d+)", done.stdout)[0]
        assert not [each for each in psutil.process_iter(["cmdline"]) if port in (each.info["cmdline"] or [])]
    with open_connection(url) as connection:
        left = connection.execute(
            "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'kafka_replica_demo%'"
        ).fetchall()
    assert left == []


def test_a_missing_postgresql_is_explained() -> None:
    """The message names the package and the option; nothing is started."""
    done = run("-c", WITHOUT_POSTGRES)
    assert done.returncode == 1
    assert "apt install postgresql" in done.stderr
    assert "--database" in done.stderr


def test_the_makefile_has_the_demo_target() -> None:
    """The Makefile has the target, with the arguments."""
    shown = subprocess.run(
        ["make", "--dry-run", "demo-directory", "DEMO_ARGS=--rows 5"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert "-m kafka_replica.demo --rows 5" in shown
