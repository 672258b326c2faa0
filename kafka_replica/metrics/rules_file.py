"""Write the alerts and recording rules as a rules file for Prometheus."""

from __future__ import annotations

import json
from collections.abc import Iterator

from kafka_replica.metrics.alerts import ALERTS, RECORDING_RULES, Alert

_HEAD = """\
# Recording and alerting rules for Prometheus, written by `kafka-replica monitoring`.
# What each alert means and what to do: docs/alerts.md.
"""


def rules_file(docs_url: str = "") -> str:
    """Return the rules file in YAML.

    Args:
        docs_url: the URL of the documentation site, for the links from alerts to their explanations; if it is empty,
            the links name the page in the repository.
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
        yield f"          description: {json.dumps(f'{alert.effect} {alert.action}')}"
        yield f"          runbook_url: {json.dumps(_runbook(alert, docs_url))}"


def _runbook(alert: Alert, docs_url: str) -> str:
    page = f"{docs_url}/alerts.html" if docs_url else "docs/alerts.md"
    return f"{page}#{alert.name.lower()}"
