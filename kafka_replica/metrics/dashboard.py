"""A Grafana dashboard of replicas, the service and producers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from enum import Enum
from itertools import islice
from typing import Any, Final, NamedTuple


class Kind(Enum):
    """The part of its series that a panel shows."""

    CURVES = "timeseries"
    """The values over time."""
    NUMBERS = "stat"
    """The last values."""
    STATES = "states"
    """The last legends: each series is a state that something has."""


class Panel(NamedTuple):
    """A panel.

    Attributes:
        title: the title.
        unit: the unit as named by Grafana.
        series: the expressions of the series, with their legends.
        kind: what the panel shows of them.
        at_least: the axis of curves reaches at least to this value, so that a curve at 0 looks calm; None for any axis.
    """

    title: str
    unit: str
    series: tuple[tuple[str, str], ...]
    kind: Kind = Kind.CURVES
    at_least: float | None = None


_OF: Final = '{replica=~"$replica"}'
_BY_REPLICA: Final = "{{replica}}"
_BY_PRODUCER: Final = "{{producer}}"
_PER_SECOND: Final = "suffix:/s"
_LATENCY: Final = f"sum by (replica, le) (rate(kafka_replica_end_to_end_latency_seconds_bucket{_OF}[5m]))"

ROWS: Final[dict[str, tuple[Panel, ...]]] = {
    "Replicas": (
        Panel("State", "none", ((f"kafka_replica_state{_OF} == 1", "{{replica}}: {{state}}"),), Kind.STATES),
        Panel("Keys", "short", ((f"kafka_replica_keys{_OF}", _BY_REPLICA),), Kind.NUMBERS),
        Panel("Version", "none", ((f"kafka_replica_version{_OF}", _BY_REPLICA),), Kind.NUMBERS),
        Panel("Lag", "s", ((f"kafka_replica_lag_seconds{_OF}", _BY_REPLICA),), at_least=1),
        Panel(
            "Lag in offsets",
            "short",
            (
                (f"kafka_replica_lag_records{_OF}", "{{replica}}, to the high watermark"),
                (f"kafka_replica_lag_stable_records{_OF}", "{{replica}}, to the last stable offset"),
            ),
            at_least=10,
        ),
        Panel("Records read", _PER_SECOND, ((f"rate(kafka_replica_records_total{_OF}[5m])", _BY_REPLICA),), at_least=1),
        Panel(
            "Versions published",
            _PER_SECOND,
            ((f"rate(kafka_replica_versions_total{_OF}[5m])", _BY_REPLICA),),
            at_least=1,
        ),
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
        Panel("Open transactions", "short", ((f"kafka_replica_open_transactions{_OF}", _BY_REPLICA),), at_least=1),
        Panel(
            "Age of the open transaction that blocks",
            "s",
            ((f"kafka_replica_open_transaction_seconds{_OF}", _BY_REPLICA),),
            at_least=1,
        ),
        Panel(
            "Bad records, rebuilds, errors of listeners, unconfirmed ends",
            "short",
            tuple(
                (f"increase(kafka_replica_{name}_total{_OF}[1h])", f"{{{{replica}}}}, {name.replace('_', ' ')}")
                for name in ("bad_records", "rebuilds", "listener_errors", "unconfirmed_ends")
            ),
            at_least=1,
        ),
    ),
    "SDMX structures": (
        Panel("Artefacts", "short", ((f"kafka_replica_sdmx_artefacts{_OF}", _BY_REPLICA),), Kind.NUMBERS),
        Panel(
            "Dangling references and unreadable records",
            "short",
            (
                (f"kafka_replica_sdmx_dangling_references{_OF}", "{{replica}}, dangling"),
                (f"kafka_replica_sdmx_unreadable_records{_OF}", "{{replica}}, unreadable"),
            ),
            at_least=1,
        ),
        Panel(
            "Look-ups in the cache of decoded messages",
            _PER_SECOND,
            tuple(
                (f"rate(kafka_replica_sdmx_cache_{name}_total{_OF}[5m])", f"{{{{replica}}}}, {name}")
                for name in ("hits", "misses", "evictions")
            ),
            at_least=1,
        ),
    ),
    "HTTP service": (
        Panel("Requests", "reqps", (("kafka_replica_http:requests:rate5m", "{{route}}"),)),
        Panel("Duration, p99", "s", (("kafka_replica_http:request_duration_seconds:p99", "{{route}}"),)),
        Panel("Errors", "percentunit", (("kafka_replica_http:errors:ratio_rate5m", "5xx"),), at_least=0.01),
        Panel(
            "In progress",
            "short",
            (
                ("kafka_replica_http_requests_in_progress", "requests"),
                ("kafka_replica_http_change_streams", "change streams"),
            ),
            at_least=1,
        ),
    ),
    "Producers": (
        Panel("State", "none", (("kafka_replica_producer_state == 1", "{{producer}}: {{state}}"),), Kind.STATES),
        Panel(
            "Age of the oldest pending transaction",
            "s",
            (("kafka_replica_producer_oldest_pending_age_seconds", _BY_PRODUCER),),
            at_least=1,
        ),
        Panel(
            "Pending transactions",
            "short",
            (("kafka_replica_producer_pending_transactions", _BY_PRODUCER),),
            at_least=1,
        ),
        Panel(
            "Acknowledged records",
            _PER_SECOND,
            (("rate(kafka_replica_producer_acknowledged_records_total[5m])", _BY_PRODUCER),),
            at_least=1,
        ),
        Panel("Retries", "short", (("increase(kafka_replica_producer_retries_total[5m])", _BY_PRODUCER),), at_least=1),
    ),
}
"""The rows of the dashboard with their panels."""

_WIDTH: Final = 24
_HEIGHT: Final = 7
_LOW: Final = 4
_COLUMNS: Final = 4
_SOURCE: Final = {"type": "prometheus", "uid": "${datasource}"}
_COLORS: Final = {": (live|running)$": "green", ": failed$": "red"}
"""The colours of states; all others are orange."""


def dashboard() -> str:
    """Return the dashboard as JSON, which Grafana (9.4 or later) can import."""
    panels: list[dict[str, Any]] = []
    y = 0
    for title, row in ROWS.items():
        panels.append(_row(title, y, len(panels) + 1))
        y += 1
        for line in _lines(row):
            height = _HEIGHT if any(panel.kind is Kind.CURVES for panel in line) else _LOW
            for number, panel in enumerate(line):
                width = _WIDTH // len(line)
                place = {"x": number * width, "y": y, "w": width, "h": height}
                panels.append(_panel(panel, place, len(panels) + 1))
            y += height
    found = {
        "title": "kafka_replica",
        "uid": "kafka-replica",
        "tags": ["kafka", "kafka-replica"],
        "schemaVersion": 37,
        "refresh": "30s",
        "time": {"from": "now-6h", "to": "now"},
        "templating": {"list": [_datasource(), _replicas()]},
        "panels": panels,
    }
    return json.dumps(found, indent=2) + "\n"


def _lines(row: tuple[Panel, ...]) -> Iterator[tuple[Panel, ...]]:
    """Yield the panels of a row, line by line; several numbers or states have lines of their own, which are lower."""
    low = [panel for panel in row if panel.kind is not Kind.CURVES]
    first = low if len(low) > 1 else []
    for panels in (first, [panel for panel in row if panel not in first]):
        lines, rest = -(-len(panels) // _COLUMNS), iter(panels)
        for number in range(lines):
            yield tuple(islice(rest, len(panels) // lines + (number < len(panels) % lines)))


def _row(title: str, y: int, number: int) -> dict[str, Any]:
    place = {"x": 0, "y": y, "w": _WIDTH, "h": 1}
    return {"id": number, "type": "row", "title": title, "collapsed": False, "gridPos": place, "panels": []}


def _panel(panel: Panel, place: dict[str, int], number: int) -> dict[str, Any]:
    targets = [
        {"refId": chr(65 + at), "datasource": _SOURCE, "expr": expression, "legendFormat": legend}
        for at, (expression, legend) in enumerate(panel.series)
    ]
    defaults: dict[str, Any] = {"unit": panel.unit, "min": 0}
    if panel.at_least is not None:
        defaults["custom"] = {"axisSoftMax": panel.at_least}
    found: dict[str, Any] = {
        "id": number,
        "type": "timeseries" if panel.kind is Kind.CURVES else "stat",
        "title": panel.title,
        "datasource": _SOURCE,
        "gridPos": place,
        "fieldConfig": {"defaults": defaults, "overrides": []},
        "targets": targets,
    }
    if panel.kind is Kind.NUMBERS:
        found["options"] = {"textMode": "value_and_name", "colorMode": "none", "graphMode": "none"}
    if panel.kind is Kind.STATES:
        text = {"titleSize": 24, "valueSize": 24}  # names of topics may be long
        found["options"] = {"textMode": "name", "colorMode": "background", "graphMode": "none", "text": text}
        defaults["color"] = _fixed("orange")
        found["fieldConfig"]["overrides"] = [
            {"matcher": {"id": "byRegexp", "options": f"/{pattern}/"}, "properties": [
                {"id": "color", "value": _fixed(color)}
            ]}
            for pattern, color in _COLORS.items()
        ]  # fmt: skip
    return found


def _fixed(color: str) -> dict[str, str]:
    return {"mode": "fixed", "fixedColor": color}


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
