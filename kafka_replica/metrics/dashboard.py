"""A Grafana dashboard of replicas, the service and producers."""

from __future__ import annotations

import json
from typing import Any, Final, NamedTuple


class Panel(NamedTuple):
    """A panel: its title, its unit as named by Grafana, its series with their legends, and its type."""

    title: str
    unit: str
    series: tuple[tuple[str, str], ...]
    kind: str = "timeseries"


_OF: Final = '{replica=~"$replica"}'
_BY_REPLICA: Final = "{{replica}}"
_LATENCY: Final = f"sum by (replica, le) (rate(kafka_replica_end_to_end_latency_seconds_bucket{_OF}[5m]))"

ROWS: Final[dict[str, tuple[Panel, ...]]] = {
    "Replicas": (
        Panel("State", "none", ((f"kafka_replica_state{_OF} == 1", "{{replica}}: {{state}}"),), "stat"),
        Panel("Keys", "short", ((f"kafka_replica_keys{_OF}", _BY_REPLICA),), "stat"),
        Panel("Version", "none", ((f"kafka_replica_version{_OF}", _BY_REPLICA),), "stat"),
        Panel("Lag", "s", ((f"kafka_replica_lag_seconds{_OF}", _BY_REPLICA),)),
        Panel(
            "Lag in offsets",
            "short",
            (
                (f"kafka_replica_lag_records{_OF}", "{{replica}}, to the high watermark"),
                (f"kafka_replica_lag_stable_records{_OF}", "{{replica}}, to the last stable offset"),
            ),
        ),
        Panel("Records read", "cps", ((f"rate(kafka_replica_records_total{_OF}[5m])", _BY_REPLICA),)),
        Panel("Versions published", "cps", ((f"rate(kafka_replica_versions_total{_OF}[5m])", _BY_REPLICA),)),
        Panel(
            "Bootstrap",
            "short",
            (
                (f"sum by (replica) (kafka_replica_position{_OF})", "{{replica}}, read"),
                (f"sum by (replica) (kafka_replica_barrier_offset{_OF})", "{{replica}}, barrier"),
            ),
        ),
        Panel(
            "From the source to a version, p50 and p99",
            "s",
            tuple(
                (f"histogram_quantile({quantile}, {_LATENCY})", f"{{{{replica}}}}, {name}")
                for quantile, name in ((0.5, "p50"), (0.99, "p99"))
            ),
        ),
        Panel(
            "Open transactions, and the age of the blocking one",
            "s",
            (
                (f"kafka_replica_open_transaction_seconds{_OF}", "{{replica}}, seconds"),
                (f"kafka_replica_open_transactions{_OF}", "{{replica}}, number"),
            ),
        ),
        Panel(
            "Bad records, rebuilds, errors of listeners, unconfirmed ends",
            "short",
            tuple(
                (f"increase(kafka_replica_{name}_total{_OF}[1h])", f"{{{{replica}}}}, {name}")
                for name in ("bad_records", "rebuilds", "listener_errors", "unconfirmed_ends")
            ),
        ),
    ),
    "SDMX structures": (
        Panel("Artefacts", "short", ((f"kafka_replica_sdmx_artefacts{_OF}", _BY_REPLICA),), "stat"),
        Panel(
            "Dangling references and unreadable records",
            "short",
            (
                (f"kafka_replica_sdmx_dangling_references{_OF}", "{{replica}}, dangling"),
                (f"kafka_replica_sdmx_unreadable_records{_OF}", "{{replica}}, unreadable"),
            ),
        ),
        Panel(
            "Look-ups in the cache of decoded messages",
            "cps",
            tuple(
                (f"rate(kafka_replica_sdmx_cache_{name}_total{_OF}[5m])", f"{{{{replica}}}}, {name}")
                for name in ("hits", "misses", "evictions")
            ),
        ),
    ),
    "HTTP service": (
        Panel("Requests", "reqps", (("kafka_replica_http:requests:rate5m", "{{route}}"),)),
        Panel("Duration, p99", "s", (("kafka_replica_http:request_duration_seconds:p99", "{{route}}"),)),
        Panel("Errors", "percentunit", (("kafka_replica_http:errors:ratio_rate5m", "5xx"),)),
        Panel(
            "In progress",
            "short",
            (
                ("kafka_replica_http_requests_in_progress", "requests"),
                ("kafka_replica_http_change_streams", "change streams"),
            ),
        ),
    ),
    "Producers": (
        Panel("State", "none", (("kafka_replica_producer_state == 1", "{{producer}}: {{state}}"),), "stat"),
        Panel(
            "Oldest pending transaction", "s", (("kafka_replica_producer_oldest_pending_age_seconds", "{{producer}}"),)
        ),
        Panel("Pending transactions", "short", (("kafka_replica_producer_pending_transactions", "{{producer}}"),)),
        Panel(
            "Acknowledged records",
            "cps",
            (("rate(kafka_replica_producer_acknowledged_records_total[5m])", "{{producer}}"),),
        ),
        Panel("Retries", "short", (("increase(kafka_replica_producer_retries_total[5m])", "{{producer}}"),)),
    ),
}
"""The rows of the dashboard with their panels."""

_WIDTH, _HEIGHT, _COLUMNS = 8, 7, 3
_SOURCE: Final = {"type": "prometheus", "uid": "${datasource}"}


def dashboard() -> str:
    """Return the dashboard as JSON, which Grafana 10 and later can import."""
    panels: list[dict[str, Any]] = []
    y = 0
    for title, row in ROWS.items():
        panels.append(_row(title, y, len(panels) + 1))
        y += 1
        for number, panel in enumerate(row):
            x = number % _COLUMNS * _WIDTH
            panels.append(_panel(panel, x, y + number // _COLUMNS * _HEIGHT, len(panels) + 1))
        y += -(-len(row) // _COLUMNS) * _HEIGHT
    found = {
        "title": "kafka_replica",
        "uid": "kafka-replica",
        "tags": ["kafka", "kafka-replica"],
        "schemaVersion": 38,
        "refresh": "30s",
        "time": {"from": "now-6h", "to": "now"},
        "templating": {"list": [_datasource(), _replicas()]},
        "panels": panels,
    }
    return json.dumps(found, indent=2) + "\n"


def _row(title: str, y: int, number: int) -> dict[str, Any]:
    place = {"x": 0, "y": y, "w": _WIDTH * _COLUMNS, "h": 1}
    return {"id": number, "type": "row", "title": title, "collapsed": False, "gridPos": place, "panels": []}


def _panel(panel: Panel, x: int, y: int, number: int) -> dict[str, Any]:
    targets = [
        {"refId": chr(65 + at), "datasource": _SOURCE, "expr": expression, "legendFormat": legend}
        for at, (expression, legend) in enumerate(panel.series)
    ]
    found: dict[str, Any] = {
        "id": number,
        "type": panel.kind,
        "title": panel.title,
        "datasource": _SOURCE,
        "gridPos": {"x": x, "y": y, "w": _WIDTH, "h": _HEIGHT},
        "fieldConfig": {"defaults": {"unit": panel.unit, "min": 0}, "overrides": []},
        "targets": targets,
    }
    if panel.kind == "stat":
        found["options"] = {"textMode": "value_and_name", "colorMode": "none", "graphMode": "none"}
    return found


def _datasource() -> dict[str, Any]:
    return {"name": "datasource", "label": "Prometheus", "type": "datasource", "query": "prometheus"}


def _replicas() -> dict[str, Any]:
    return {
        "name": "replica",
        "label": "Replica",
        "type": "query",
        "datasource": _SOURCE,
        "query": "label_values(kafka_replica_ready, replica)",
        "refresh": 2,
        "multi": True,
        "includeAll": True,
        "allValue": ".*",
    }
