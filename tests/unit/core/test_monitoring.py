"""Alerts and dashboard: valid for Prometheus itself, about metrics that exist, and as the pages and files show them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner
from prometheus_client import CollectorRegistry, generate_latest

from kafka_replica.cli.groups import kafka_replica
from kafka_replica.metrics.alerts import ALERTS, RECORDING_RULES
from kafka_replica.metrics.dashboard import ROWS, dashboard
from kafka_replica.metrics.replica import export_replica
from kafka_replica.metrics.rules_file import rules_file
from kafka_replica.testing import FakeTopic
from support import metrics_table
from support.paths import ROOT

FOLDER = ROOT / "deploy" / "monitoring"
PAGE = ROOT / "docs" / "alerts.md"
_SUFFIXES = ("", "_total", "_bucket", "_sum", "_count")

needs_promtool = pytest.mark.skipif(
    shutil.which("promtool") is None,
    reason="SKIPPED LOUDLY: promtool is not installed (Debian: prometheus): rules are NOT checked by Prometheus",
)

# For each alert a series, with values that fire it and values that do not: first value, step, repetitions.
_R = 'replica="codes",topic="t"'
_P = 'producer="p",topic="t"'
CASES = {
    "KafkaReplicaFailed": (f'kafka_replica_state{{{_R},state="failed"}}', "1+0x200", "0+0x200"),
    "KafkaReplicaMissing": (f"kafka_replica_ready{{{_R}}}", "1+0x65 _x140", "1+0x200"),
    "KafkaReplicaStalled": (f'kafka_replica_state{{{_R},state="stalled"}}', "1+0x200", "0+0x200"),
    "KafkaReplicaBlocked": (f'kafka_replica_state{{{_R},state="blocked"}}', "1+0x200", "0+0x200"),
    "KafkaReplicaNotReady": (f"kafka_replica_ready{{{_R}}}", "0+0x200", "1+0x200"),
    "KafkaReplicaLagging": (f"kafka_replica_lag_seconds{{{_R}}}", "61+0x200", "60+0x200"),
    "KafkaReplicaStale": (f"kafka_replica_stale{{{_R}}}", "1+0x200", "0+0x200"),
    "KafkaReplicaBadRecords": (f"kafka_replica_bad_records_total{{{_R}}}", "0+1x200", "7+0x200"),
    "KafkaReplicaDirectoryFailed": ('kafka_replica_directory_failed{directory="d"}', "1+0x200", "0+0x200"),
    "KafkaReplicaDirectoryBadRecords": ('kafka_replica_directory_bad_records{directory="d"}', "3+0x200", "0+0x200"),
    "KafkaReplicaUnconfirmedEnds": (f"kafka_replica_unconfirmed_ends_total{{{_R}}}", "0+1x200", "7+0x200"),
    "KafkaReplicaRebuilt": (f"kafka_replica_rebuilds_total{{{_R}}}", "0+1x200", "7+0x200"),
    "KafkaReplicaListenerErrors": (f"kafka_replica_listener_errors_total{{{_R}}}", "0+1x200", "7+0x200"),
    "KafkaReplicaDanglingReferences": (
        'kafka_replica_sdmx_dangling_references{replica="codes"}', "3+0x200", "0+0x200",
    ),
    "KafkaReplicaUnreadableStructures": (
        'kafka_replica_sdmx_unreadable_records{replica="codes"}', "3+0x200", "0+0x200",
    ),
    "KafkaReplicaCacheTooSmall": (
        'kafka_replica_sdmx_cache_evictions_total{replica="codes"}', "0+120x200", "0+30x200",
    ),
    "KafkaReplicaHttpErrors": (
        'kafka_replica_http_requests_total{route="/r",method="GET",status="500"}', "0+9x200", "5+0x200",
    ),
    "KafkaReplicaHttpSlow": (
        'kafka_replica_http_request_duration_seconds_bucket{route="/r",method="GET",le="1"}', "0+0x200", "0+9x200",
    ),
    "KafkaReplicaProducerFailed": (f'kafka_replica_producer_state{{{_P},state="failed"}}', "1+0x200", "0+0x200"),
    "KafkaReplicaProducerSuspended": (
        f'kafka_replica_producer_state{{{_P},state="suspended"}}', "1+0x200", "0+0x200",
    ),
    "KafkaReplicaProducerWithoutLeader": (f"kafka_replica_producer_leader{{{_P}}}", "0+0x200", "1+0x200"),
    "KafkaReplicaProducerMissing": (f"kafka_replica_producer_leader{{{_P}}}", "1+0x65 _x140", "1+0x200"),
    "KafkaReplicaProducerBehind": (
        f"kafka_replica_producer_oldest_pending_age_seconds{{{_P}}}", "61+1x200", "59+0x200",
    ),
    "KafkaReplicaProducerRetrying": (f"kafka_replica_producer_retrying{{{_P}}}", "1+0x200", "0+0x200"),
    "KafkaReplicaProducerSourceDown": (f"kafka_replica_producer_source_up{{{_P}}}", "0+0x200", "1+0x200"),
    "KafkaReplicaProducerDatabaseDown": (f"kafka_replica_producer_database_up{{{_P}}}", "0+0x200", "1+0x200"),
    "KafkaReplicaProducerLeavesOut": (
        f"kafka_replica_producer_left_out_records_total{{{_P}}}", "0+1x200", "7+0x200",
    ),
}  # fmt: skip
_BESIDE = {  # what else the expression needs
    "KafkaReplicaHttpErrors": [  # of these, only the first counts
        f'kafka_replica_http_requests_total{{route="{route}",method="GET",status="{status}"}}'
        for route, status in (("/r", "200"), ("ready", "503"), ("live", "503"), ("/r", "501"))
    ],
    "KafkaReplicaHttpSlow": [
        f'kafka_replica_http_request_duration_seconds_bucket{{route="/r",method="GET",le="{bound}"}}'
        for bound in ("5", "+Inf")
    ],
}

# What Prometheus evaluates soon after the first scrape of an instance: name, series, values, time, whether it fires.
_MISSING = (("KafkaReplicaMissing", "ready", _R), ("KafkaReplicaProducerMissing", "producer_leader", _P))
EARLY = [
    *(
        (f"KafkaReplica{name}", f"kafka_replica_{counter}_total{{{_R}}}", values, "5m", fires)
        for name, counter in (
            ("BadRecords", "bad_records"), ("UnconfirmedEnds", "unconfirmed_ends"), ("Rebuilt", "rebuilds"),
            ("ListenerErrors", "listener_errors"),
        )
        for values, fires in (("7+0x30", True), ("0+0x30", False))
    ),
    *(
        (name, f"kafka_replica_{metric}{{{labels}}}", values, "25m", fires)
        for name, metric, labels in _MISSING
        for values, fires in (("1+0x10 _x30", True), ("1+0x30", False))
    ),
]  # fmt: skip


def exported() -> set[str]:
    """Return the names of all metrics that the collectors export."""
    return {family.name for family in metrics_table.families()}


def test_the_page_has_the_table_of_all_metrics() -> None:
    """Names, types, labels and meanings are those of the collectors; the module that is compared with writes it."""
    page = metrics_table.PAGE.read_text(encoding="utf-8")
    shown = page.partition(metrics_table.BEGIN)[2].partition(metrics_table.END)[0]
    assert shown == metrics_table.table(), "run: PYTHONPATH=tests python -m support.metrics_table"
    assert shown.count("\n") > 60
    assert "| `kafka_replica_http_requests_total` | counter | `" in shown


def expressions() -> list[str]:
    """Return all expressions of rules and panels."""
    panels = [expression for row in ROWS.values() for panel in row for expression, _ in panel.series]
    return [*(rule.expression for rule in RECORDING_RULES), *(alert.expression for alert in ALERTS), *panels]


def test_rules_and_panels_name_only_exported_metrics() -> None:
    """Rules and panels name only metrics that are exported, and series that the recording rules compute."""
    known = {name + suffix for name in exported() for suffix in _SUFFIXES} | {rule.name for rule in RECORDING_RULES}
    named = {name for text in expressions() for name in re.findall(r"\bkafka_replica[\w:]*", text)}
    assert len(named) > 30
    assert named - known == set()


def test_the_files_and_the_page_are_those_of_the_declaration() -> None:
    """The files in deploy/monitoring are what the command writes, and the page has each alert with its texts."""
    assert (FOLDER / "kafka-replica-rules.yml").read_text(encoding="utf-8") == rules_file()
    assert (FOLDER / "kafka-replica-dashboard.json").read_text(encoding="utf-8") == dashboard()
    rows = [
        f"| `{alert.name}` | {alert.severity} | `{alert.expression.replace('|', chr(92) + '|')}` | {alert.wait} |"
        for alert in ALERTS
    ]
    page = PAGE.read_text(encoding="utf-8")
    assert page.split("<!-- alerts -->\n")[1].split("\n<!-- /alerts -->")[0].splitlines()[2:] == rows
    sections = dict(re.findall(r"^### (\w+)\n\n(.*?)\n(?=\n###|\n##|\Z)", page, re.MULTILINE | re.DOTALL))
    assert {name: " ".join(text.split()) for name, text in sections.items()} == {
        alert.name: f"{alert.effect} {alert.action}" for alert in ALERTS
    }


def test_the_alert_of_a_stalled_replica_names_each_possible_cause() -> None:
    """A replica waits for brokers, and for services of its header stack."""
    alert = next(each for each in ALERTS if each.name == "KafkaReplicaStalled")
    assert "brokers, or from a service that its header stack needs" in alert.summary
    assert "the services for keys or schemas" in alert.action


def test_dashboard_panels_have_different_places() -> None:
    """Panels have different ids and places, and a source of data."""
    panels = json.loads(dashboard())["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels) > 20
    assert len({(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in panels}) == len(panels)


def test_a_closed_replica_is_no_longer_exported() -> None:
    """Otherwise it would always look ready and up to date, and its absence would not be noticed."""
    registry, topic = CollectorRegistry(), FakeTopic("t")
    with topic.replica() as closed, topic.replica() as other:
        export_replica(closed, name="a", registry=registry)
        export_replica(other, name="b", registry=registry)
        closed.wait_ready(timeout_s=60)
        assert registry.get_sample_value("kafka_replica_ready", {"replica": "a", "topic": "t"}) == 1
        closed.close()
        text = generate_latest(registry).decode()
    assert 'replica="a"' not in text
    assert 'kafka_replica_keys{replica="b",topic="t"} 0.0' in text


def test_the_command_writes_both_and_overwrites_nothing(tmp_path: Path) -> None:
    """A second run with other content is refused; links lead to the given site."""
    run = CliRunner().invoke(kafka_replica, ["monitoring", str(tmp_path), "--docs-url", "https://docs.example.org/"])
    assert run.exit_code == 0, run.output
    rules = (tmp_path / "kafka-replica-rules.yml").read_text(encoding="utf-8")
    assert 'runbook_url: "https://docs.example.org/alerts.html#kafkareplicafailed"' in rules
    assert "with different content" in str(CliRunner().invoke(kafka_replica, ["monitoring", str(tmp_path)]).exception)


@pytest.mark.thorough
@needs_promtool
def test_prometheus_accepts_rules_and_metrics(tmp_path: Path) -> None:
    """Promtool finds no fault in the rules, nor in the names and types of the metrics."""
    check("check", "rules", str(FOLDER / "kafka-replica-rules.yml"))
    registry = CollectorRegistry()
    with FakeTopic("t").replica() as replica:
        replica.wait_ready(timeout_s=60)
        export_replica(replica, registry=registry)
        text = generate_latest(registry).decode()
    done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    del tmp_path


@pytest.mark.long
@needs_promtool
def test_each_alert_fires_when_it_should_and_only_then(tmp_path: Path) -> None:
    """Prometheus itself evaluates each alert with a series that fires it, and with one that does not."""
    assert set(CASES) == {alert.name for alert in ALERTS}
    tests = [
        rule_test(name, series, values, "120m", fires=values == firing)
        for name, (series, firing, quiet) in CASES.items()
        for values in (firing, quiet)
    ]
    evaluate(tests, tmp_path)


@pytest.mark.thorough
@needs_promtool
def test_alerts_notice_what_happened_before_the_first_scrape(tmp_path: Path) -> None:
    """Counts of before the first scrape fire alerts, and so does an instance that ends soon after its start."""
    evaluate([rule_test(*case, fires=fires) for *case, fires in EARLY], tmp_path)


@pytest.mark.thorough
@needs_promtool
def test_a_stopped_directory_fires_one_alert(tmp_path: Path) -> None:
    """Its bad records are the cause, and are not reported as left out."""
    tests = [
        rule_test(
            f"KafkaReplicaDirectory{name}", 'kafka_replica_directory_failed{directory="d"}', "1+0x9", "5m", fires=fires
        )
        for name, fires in (("Failed", True), ("BadRecords", False))
    ]
    bad_records = {"series": 'kafka_replica_directory_bad_records{directory="d"}', "values": "3+0x9"}
    evaluate([{**test, "input_series": [*test["input_series"], bad_records]} for test in tests], tmp_path)  # type: ignore[misc]


@pytest.mark.thorough
@needs_promtool
def test_streams_of_changes_are_not_slow_requests(tmp_path: Path) -> None:
    """A stream ends when its client leaves, so its duration says nothing about the service."""
    series, values, _ = CASES["KafkaReplicaHttpSlow"]
    evaluate([rule_test("KafkaReplicaHttpSlow", series, values, "30m", fires=True)], tmp_path)
    stream = rule_test("KafkaReplicaHttpSlow", series, values, "30m", fires=False)
    evaluate([json.loads(json.dumps(stream).replace("/r", "changes"))], tmp_path)


def rule_test(name: str, series: str, values: str, time: str, *, fires: bool) -> dict[str, object]:
    """Return a test for promtool: whether a series with some values has fired an alert after a time."""
    beside = [{"series": other, "values": "0+9x200"} for other in _BESIDE.get(name, ())]
    expected = [{"exp_labels": labels_of(name, series)}] if fires else []
    return {
        "interval": "1m",
        "input_series": [{"series": series, "values": values}, *beside],
        "alert_rule_test": [{"alertname": name, "eval_time": time, "exp_alerts": expected}],
    }


def evaluate(tests: list[dict[str, object]], tmp_path: Path) -> None:
    """Let Prometheus run tests of the rules."""
    rules = re.sub(r" +annotations:\n(?: {10}.*\n)+", "", rules_file())  # texts contain values, and are not tested
    (tmp_path / "rules.yml").write_text(rules)
    (tmp_path / "tests.yml").write_text(json.dumps({"rule_files": ["rules.yml"], "tests": tests}))
    check("test", "rules", str(tmp_path / "tests.yml"))


def labels_of(name: str, series: str) -> dict[str, str]:
    """Return the labels that the alert has if the series fires it."""
    labels = dict(re.findall(r'(\w+)="([^"]*)"', series))
    kept = {"KafkaReplicaHttpErrors": (), "KafkaReplicaHttpSlow": ("route",)}.get(name)
    severity = next(alert.severity for alert in ALERTS if alert.name == name)
    return {key: value for key, value in labels.items() if kept is None or key in kept} | {"severity": severity}


def check(*arguments: str) -> None:
    """Run promtool, which must succeed."""
    done = subprocess.run(["promtool", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
