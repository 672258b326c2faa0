"""The table of all metrics, as the collectors declare them: ``PYTHONPATH=tests python -m support.metrics_table``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from prometheus_client import CollectorRegistry
from prometheus_client.metrics_core import Metric

from kafka_replica.metrics.directories import DirectoryCollector
from kafka_replica.metrics.producer import ProducerCollector
from kafka_replica.metrics.replica import export_replica
from kafka_replica.metrics.sdmx import StructuresCollector
from kafka_replica.metrics.server import RequestMetrics, SummedMetrics
from kafka_replica.metrics.usage import UsageCollector
from kafka_replica.testing import FakeTopic
from support.paths import ROOT

PAGE = ROOT / "docs" / "metrics.md"
BEGIN, END = "<!-- all metrics -->\n", "<!-- /all metrics -->\n"


def families() -> list[Metric]:
    """Return all metrics of the package, without those of Python and of the process."""
    registry = CollectorRegistry()
    with FakeTopic("t").replica() as replica:
        export_replica(replica, registry=registry)
        found = list(registry.collect())
    found += [*StructuresCollector().collect(), *ProducerCollector().collect()]
    found += [*DirectoryCollector().collect(), *UsageCollector().collect(), *_of_requests()]
    return [family for family in found if family.name.startswith("kafka_replica")]


def table() -> str:
    """Return the table in Markdown: name, type, labels and meaning of each metric."""
    lines = ["| metric | type | labels | meaning |", "|---|---|---|---|"]
    for family in sorted(families(), key=lambda family: family.name):
        name = f"{family.name}_total" if family.type == "counter" else family.name
        labels = ", ".join(f"`{label}`" for label in vars(family)["_labelnames"]) or "none"
        lines.append(f"| `{name}` | {family.type} | {labels} | {family.documentation} |")
    return "".join(f"{line}\n" for line in lines)


def _of_requests() -> Iterator[Metric]:
    """Return the metrics of the server, with their labels, which their collectors know."""
    with TemporaryDirectory() as folder:
        for registry in (RequestMetrics().registry, SummedMetrics(Path(folder)).registry):
            facts = [vars(collector) for collector in registry._collector_to_names]
            labels = {each["_name"]: each["_labelnames"] for each in facts if "_labelnames" in each}
            for family in registry.collect():
                vars(family).setdefault("_labelnames", labels.get(family.name, ()))
                yield family


if __name__ == "__main__":
    head, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    PAGE.write_text(f"{head}{BEGIN}{table()}{END}{rest.partition(END)[2]}", encoding="utf-8")
