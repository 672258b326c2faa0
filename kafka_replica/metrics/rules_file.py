"""Write the alerts and recording rules as a rules file for Prometheus."""

from __future__ import annotations

import json
from collections.abc import Iterator

from kafka_replica.metrics.alerts import ALERTS, RECORDING_RULES, Alert

_HEAD = """\
# Recording and alerting rules for Prometheus, written by `kafka-replica monitoring`.
# What each alert means and what to do: docs/alerts.md, or `kafka-replica explain NAME`.
"""


def rules_file(docs_url: str = "") -> str:
    """Return the rules file in YAML.

    Args:
        docs_url: the URL of the documentation site, for the links from alerts to their explanations; if it is empty,
            there are no links. Each description names the command that explains the alert.
    """
    return "\n".join([_HEAD + "groups:", *_recording(), *_alerting(docs_url.rstrip("/"))]) + "\n"


def _recording() -> Iterator[str]:
    yield "  - name: kafka-replica-recording"
    yield "    rules:"
    for rule in RECORDING_RULES:
        yield f"      - record: {rule.name}"
        yield f"        expr: {json.dumps(rule.expression)}"


def _alerting(docs_url: str) -> Iterator[str]:
    yield "  - name: kafka-replica-alerts"
    yield "    rules:"
    for alert in ALERTS:
        yield f"      - alert: {alert.name}"
        yield f"        expr: {json.dumps(alert.expression)}"
        yield f"        for: {alert.wait}"
        yield "        labels:"
        yield f"          severity: {alert.severity}"
        yield "        annotations:"
        # A JSON string is also a valid YAML string.
        yield f"          summary: {json.dumps(alert.summary)}"
        yield f"          description: {json.dumps(_description(alert))}"
        if docs_url:
            yield f"          runbook_url: {json.dumps(f'{docs_url}/alerts.html#{alert.name.lower()}')}"


def _description(alert: Alert) -> str:
    return f"{alert.effect} {alert.action} This text: kafka-replica explain {alert.name}"
