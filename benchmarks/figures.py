"""The figures: the name of each, and its target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Figure:
    """A line of the table; its value is the median over rounds."""

    title: str
    unit: Literal["x", "s", "ms", "us", "MB", "records/s", "requests/s", "nodes", "bytes"]
    bound: float | None = None
    """The target; None if there is none, and the line is only informative."""
    wants: Literal["more", "less"] = "more"

    @property
    def target(self) -> str:
        """The target, as text."""
        if self.bound is None:
            return ""
        return f"{'>=' if self.wants == 'more' else '<='} {self.bound:g}{self.suffix}"

    @property
    def suffix(self) -> str:
        """The unit that follows a number."""
        return "" if self.unit == "x" else f" {self.unit}"

    def merit(self, value: float) -> float | None:
        """Return how many times better than the target a value is; below 1 the target is missed."""
        if self.bound is None or value <= 0:
            return None
        return value / self.bound if self.wants == "more" else self.bound / value

    def verdict(self, value: float) -> str:
        """Return the verdict on a value, as text: whether it meets the target."""
        if self.bound is None:
            return ""
        return "met" if (value >= self.bound if self.wants == "more" else value <= self.bound) else "missed"


_SCAN = "against reading the same rows"
FIGURES: dict[str, Figure] = {
    "bootstrap.markers": Figure("bootstrap against the reference loop: markers", "x", 1.0),
    "bootstrap.quiet": Figure("bootstrap against the reference loop: quiescence", "x", 1.0),
    "bootstrap.globalktable": Figure("bootstrap (markers) against GlobalKTable in memory", "x", 2.5),
    "bootstrap.s": Figure("seconds of it: markers", "s"),
    "bootstrap.reference_s": Figure("seconds of it: the reference", "s"),
    "bootstrap.200": Figure("bootstrap of values of 200 B against the reference loop", "x", 1.0),
    "bootstrap.lz4": Figure("bootstrap of a topic compressed with lz4, against the reference loop", "x", 1.0),
    "bootstrap.zstd": Figure("the same with zstd", "x", 1.0),
    "bootstrap.brokers": Figure("bootstrap of 12 partitions over three brokers, against the reference loop", "x", 1.0),
    "small.s": Figure("small topic ready, imports done", "s", 0.15, "less"),
    "small.reference": Figure("small topic against the reference", "x", 0.6),
    "apply.ratio": Figure("10 keys into 1,000,000 against into 10,000, p50", "x", 1.2, "less"),
    "visible.poll": Figure("commit -> visible, p50, against a bare poll: wait_for", "x", 1.5, "less"),
    "visible.poll_p99": Figure("the same, p99", "x", 1.5, "less"),
    "visible.subscribe": Figure("p50 for a listener", "x", 1.5, "less"),
    "visible.quiet": Figure("p50 for wait_for with quiescence", "x", None, "less"),
    "visible.globalktable": Figure("commit -> visible, p50, against GlobalKTable", "x", 1.0, "less"),
    "visible.ms": Figure("milliseconds of it: wait_for", "ms"),
    "lookups.200.repeated": Figure("snapshot.get against dict, 200 B, asked before", "x", 0.8),
    "lookups.200.first": Figure("snapshot.get against dict, 200 B, for the first time", "x", 0.6),
    "lookups.1024.repeated": Figure("snapshot.get against dict, 1 KB, asked before", "x", 0.8),
    "lookups.1024.first": Figure("snapshot.get against dict, 1 KB, for the first time", "x", 0.6),
    "memory.ratio": Figure("memory against payload, 1 KB values", "x", 1.25, "less"),
    "memory.reference": Figure("the same for the reference", "x", None, "less"),
    "memory.same": Figure("memory against the reference, 1 KB values", "x", 1.0, "less"),
    "memory.200.ratio": Figure("memory against payload, 200 B values", "x", None, "less"),
    "memory.200.reference": Figure("memory against the reference, 200 B values", "x", 1.0, "less"),
    "load.poll": Figure("six busy writers, commit -> visible, p99, against a bare poll", "x", 2, "less"),
    "load.p99": Figure("six busy writers, commit -> visible, p99: markers", "ms", 100, "less"),
    "load.p50": Figure("the same, p50", "ms", None, "less"),
    "load.quiet_p99": Figure("the same, p99: quiescence", "ms", None, "less"),
    "disk.reference": Figure("on disk: bootstrap against the loop feeding bare rocksdict", "x", 0.9),
    "disk.globalktable": Figure("on disk: bootstrap against GlobalKTable with RocksDB", "x", 1.5),
    "disk.s": Figure("on disk: seconds of it", "s"),
    "disk.restart": Figure("on disk: start with nothing new, against its bootstrap", "x", 0.1, "less"),
    "disk.restart_s": Figure("on disk: seconds of it", "s"),
    "disk.restart_globalktable": Figure("on disk: start with nothing new, against GlobalKTable's", "x", 1.0),
    "disk.apply": Figure("on disk: 10 keys into 1,000,000 against into 10,000, p50", "x", 1.3, "less"),
    "disk.apply_us": Figure("on disk: microseconds of it", "us"),
    "disk.lookups": Figure("on disk: snapshot.get against bare rocksdict, 1 KB", "x", 0.9),
    "disk.flush_mb": Figure("on disk: memory above idle, 2 GB in one transaction", "MB", 300, "less"),
    "checkpoint.restart": Figure(
        "memory store started from its checkpoint file, against its bootstrap", "x", 0.3, "less"
    ),
    "checkpoint.restart_s": Figure("seconds of it", "s"),
    "codes.refresh_s": Figure("Spark: 1,000,000 codes refreshed into workers, one list of 100 new", "s", 0.2, "less"),
    "codes.driver_s": Figure("seconds of it in the driver", "s"),
    "directory.s": Figure("50,000 rows ready as typed objects with a unique index, imports done", "s", 0.3, "less"),
    "directory.java": Figure("times faster than a consumer in Java with a ConcurrentHashMap", "x", 4.0),
    "directory.lookups": Figure("directory[id] against a dict of the same objects", "x", 0.7),
    "directory.changes": Figure("10 rows changed in 500,000 against in 10,000, four indexes, p50", "x", 1.5, "less"),
    "directory.changes_us": Figure("microseconds of it: in 10,000", "us"),
    "codes.first_s": Figure("the same codes broadcast for the first time, decoding included", "s"),
    "dates.spark.plain": Figure(f"date map on Spark, months to quarters, {_SCAN}", "x", 3, "less"),
    "dates.spark.plain.cpu": Figure("processor time of it", "x", None, "less"),
    "dates.spark.by_frequency": Figure(f"date map on Spark, eleven frequencies, {_SCAN}", "x", 3, "less"),
    "dates.spark.by_frequency.cpu": Figure("processor time of it", "x", None, "less"),
    "dates.local.plain": Figure(f"date map by polars, months to quarters, {_SCAN}", "x", 3, "less"),
    "dates.local.plain.cpu": Figure("processor time of it", "x", None, "less"),
    "dates.local.by_frequency": Figure(f"date map by polars, eleven frequencies, {_SCAN}", "x", 3, "less"),
    "dates.local.by_frequency.cpu": Figure("processor time of it", "x", None, "less"),
    "dates.plain.nodes": Figure("date map, months to quarters: nodes of Spark's plan", "nodes", None, "less"),
    "dates.plain.method_bytes": Figure("date map, months to quarters: the longest Java method", "bytes", 8000, "less"),
    "dates.by_frequency.nodes": Figure("date map, eleven frequencies: nodes of Spark's plan", "nodes", None, "less"),
    "dates.by_frequency.method_bytes": Figure(
        "date map, eleven frequencies: the longest Java method", "bytes", 8000, "less"
    ),
    "data.ml": Figure("SDMX-ML data with series read into columns, against lxml's iterparse alone", "x", 2.5, "less"),
    "data.ml_s": Figure("240,000 observations: processor time of it", "s", None, "less"),
    "data.json": Figure("SDMX-JSON data read into columns, against msgspec decoding it", "x", 2.0, "less"),
    "data.json_s": Figure("240,000 observations: processor time of it", "s", None, "less"),
    "large.parquet.kept": Figure(f"5,000,000 rows of Parquet on Spark, all rows kept, {_SCAN}", "x", 2.5, "less"),
    "large.parquet.violations": Figure(f"the same, rows with findings only, {_SCAN}", "x", 2.2, "less"),
    "large.parquet.s": Figure("seconds of it, all rows kept", "s", None, "less"),
    "large.csv.kept": Figure(f"5,000,000 rows of CSV on Spark, all rows kept, {_SCAN}", "x", 2.5, "less"),
    "large.csv.violations": Figure(f"the same, rows with findings only, {_SCAN}", "x", 2.2, "less"),
    "large.csv.s": Figure("seconds of it, all rows kept", "s", None, "less"),
    "findings.page_s": Figure("a million findings: the report as a page", "s", 10, "less"),
    "findings.page.cpu_s": Figure("processor time of it", "s", None, "less"),
    "findings.listed_s": Figure("a million findings: all of them as CSV, with locations", "s", None, "less"),
    "findings.listed.cpu_s": Figure("processor time of it", "s", None, "less"),
    "findings.ess_s": Figure("a million findings: the report of the European Statistical System", "s", None, "less"),
    "findings.ess.cpu_s": Figure("processor time of it", "s", None, "less"),
    "local_csv.scan": Figure("5,000,000 rows of CSV validated without Spark, against polars' scan", "x", 3.0, "less"),
    "local_csv.scan.cpu": Figure("processor time of it", "x", None, "less"),
    "local_csv.s": Figure("seconds of it", "s", None, "less"),
    "local_csv.peak_mb": Figure("peak of memory of it", "MB", 1000, "less"),
    "local_csv.scan_mb": Figure("peak of memory of the scan", "MB", None, "less"),
}


def _readers() -> dict[str, Figure]:
    """Return the readers' figures: their time relative to the peer's, so less is faster, except for sdmx1."""
    found: dict[str, Figure] = {}
    long_, small = "20,000 codes", "1,000 small messages"
    for format_, title, bound in (
        ("ml21", "SDMX-ML 2.1 against lxml alone", 2.0),
        ("ml30", "SDMX-ML 3.0 against lxml alone", 2.0),
        ("ml20", "SDMX-ML 2.0 against lxml alone", None),
        ("json", "SDMX-JSON 2.0 against json.loads", 1.5),
        ("fusion", "Fusion-JSON against pysdmx", 1.0),
    ):
        for which, shown in (("long", long_), ("small", small)):
            name = f"reading.{format_}.{which}"
            is_codelists = format_ == "ml20" and which == "small"
            what = f"{title}, {'250 small codelists' if is_codelists else shown}"
            found[name] = Figure(f"{what}: read", "x", bound, "less")
            # Fusion-JSON has to be as fast in both directions; the other targets are for reading.
            walk_bound = bound if format_ == "fusion" else None
            found[f"{name}.walk"] = Figure("the same, every item looked at", "x", walk_bound, "less")
    found["reading.sdmx1"] = Figure(f"SDMX-ML 2.1, {long_}, times faster than sdmx1: read", "x", 10.0)
    found["reading.sdmx1.walk"] = Figure("the same, every item looked at", "x", None)
    return found


READERS: dict[str, Figure] = _readers()
"""Figures that are shown in a section of their own."""

PUBLISHING: dict[str, Figure] = {
    "publish.ratio": Figure("publishing from SQLite against the bare transactional loop", "x", 0.8),
    "publish.postgres_ratio": Figure("publishing from PostgreSQL against the bare transactional loop", "x", 0.8),
    "publish.bare_ms": Figure("milliseconds a transaction: the bare loop", "ms"),
    "publish.ms": Figure("publishing from SQLite", "ms"),
    "publish.postgres_ms": Figure("publishing from PostgreSQL", "ms"),
    "publish.bare_cpu_ms": Figure("processor time of it: the bare loop", "ms"),
    "publish.cpu_ms": Figure("publishing from SQLite", "ms"),
    "publish.postgres_cpu_ms": Figure("publishing from PostgreSQL", "ms"),
    "publish.record_ms": Figure("milliseconds a transaction before that: recording in SQLite", "ms"),
    "publish.postgres_record_ms": Figure("recording in PostgreSQL", "ms"),
    "flush.mb": Figure("full flush in one transaction: memory above idle, at its peak", "MB", 300, "less"),
    "flush.s": Figure("seconds of it", "s"),
}
"""Figures of the reference producer, in a section of their own."""

HEADERS: dict[str, Figure] = {
    "headers.empty": Figure("bootstrap with an empty stack against one without", "x", 1.02, "less"),
    "headers.content_type": Figure("content type", "records/s"),
    "headers.gzip": Figure("compression with gzip", "records/s"),
    "headers.zstd": Figure("compression with zstd", "records/s"),
    "headers.lz4": Figure("compression with lz4", "records/s"),
    "headers.encryption": Figure("encryption with AES-256-GCM", "records/s"),
    "headers.hmac": Figure("signatures with HMAC-SHA256", "records/s"),
    "headers.ed25519": Figure("signatures with Ed25519", "records/s"),
    "headers.routing": Figure("routing trail of one hop", "records/s"),
    "headers.trace": Figure("trace context", "records/s"),
    "headers.together": Figure("content type, zstd, encryption and HMAC together", "records/s"),
}
"""Figures of header stacks, in a section of their own."""

HTTP: dict[str, Figure] = {
    "http.unparsed": Figure(
        "a codelist asked again, unparsed, against a bare ASGI response of the same bytes, p99", "x", 1.3, "less"
    ),
    "http.unparsed.p50": Figure("the same, p50", "x"),
    "http.unparsed.h11": Figure("the same against a bare response by h11, p99", "x"),
    "http.unparsed.h11.p50": Figure("the same, p50", "x"),
    "http.first": Figure("codelists asked for the first time, unparsed, p99", "x", 1.3, "less"),
    "http.first.p50": Figure("the same, p50", "x"),
    "http.first.h11": Figure("the same against a bare response by h11, p99", "x"),
    "http.first.h11.p50": Figure("the same, p50", "x"),
    "http.304": Figure("304 against a bare one with the same headers, p99", "x", 1.5, "less"),
    "http.304.p50": Figure("the same, p50", "x"),
    "http.304.h11": Figure("the same against a bare 304 by h11, p99", "x"),
    "http.304.h11.p50": Figure("the same, p50", "x"),
    "http.unparsed_ms": Figure("milliseconds of the codelist asked again, p99", "ms"),
    "http.ready_s": Figure("8,400 dataflows, 2,400 codelists, 650 constraints: ready, imports done", "s", 5, "less"),
    "http.warm_s": Figure("the same with its references, which are read in the background after that", "s"),
    "http.references_ms": Figure("references=all of dataflows for the first time, p99", "ms", 10, "less"),
    "http.references_p50_ms": Figure("the same, p50", "ms"),
    "http.references_again_ms": Figure("references=all of dataflows asked again, p99", "ms", 10, "less"),
    "http.requests": Figure("requests per second of one worker, four connections", "requests/s"),
    "http.requests_of_two": Figure("the same of two workers, which share the processors with the client", "requests/s"),
    "http.cpu_ms": Figure("processor time per request of one worker", "ms"),
    "http.cpu_ms_of_two": Figure("the same of two workers and the main process together", "ms"),
    "http.client_cpu_ms": Figure(
        "processor time per request of the client, one process, while one worker answers", "ms"
    ),
    "http.client_cpu_ms_of_two": Figure("the same while two workers answer", "ms"),
    "http.workers": Figure("requests per second of two workers against one", "x"),
}
"""Figures of the HTTP service, in a section of their own."""

VALIDATION: dict[str, Figure] = {
    "validation.kept": Figure(f"validation on Spark, all rows kept, {_SCAN}", "x", 2.5, "less"),
    "validation.violations": Figure(f"validation on Spark, rows with findings only, {_SCAN}", "x", 2.2, "less"),
    "validation.mapping": Figure(f"mapping on Spark, {_SCAN}", "x", 2.5, "less"),
    "validation.duplicates": Figure("exact duplicate keys: how much more", "x", 2.0, "less"),
    "validation.kept.cpu": Figure("processor time: validation, all rows kept", "x"),
    "validation.violations.cpu": Figure("processor time: rows with findings only", "x"),
    "validation.mapping.cpu": Figure("processor time: mapping", "x"),
    "validation.duplicates.cpu": Figure("processor time: exact duplicate keys, how much more", "x"),
    "validation.rows_per_s": Figure("million rows a second, all rows kept", "x"),
    "validation.local": Figure("polars, times faster than Spark: all rows", "x"),
    "validation.local_small": Figure("polars, times faster than Spark: a 64th of the rows", "x"),
    "validation.pandas": Figure("times faster than a loop over pandas' rows", "x"),
    "validation.dqx": Figure("times faster than Databricks DQX: all rows kept, each by its own scan", "x"),
    "validation.dqx.kept": Figure(f"Databricks DQX, all rows kept, {_SCAN}", "x", None, "less"),
    "validation.dqx.violations": Figure(f"Databricks DQX, rows with findings only, {_SCAN}", "x", None, "less"),
    "validation.dqx.duplicates": Figure("Databricks DQX, duplicate keys: how much more", "x", None, "less"),
    "validation.dqx.planned_s": Figure("Databricks DQX: making the plan, 38,880 codes", "s", None, "less"),
    "validation.planned_s": Figure("making the plan, 38,880 codes", "s"),
    "validation.one_list.planned_s": Figure("a list of 500,000 codes: making the plan", "s"),
    "validation.one_list.run_s": Figure("a list of 500,000 codes: 200,000 rows of 11 dimensions", "s"),
    "validation.many_lists.planned_s": Figure("500,000 codes over 130 dimensions: making the plan", "s"),
    "validation.many_lists.run_s": Figure("500,000 codes over 130 dimensions: 200,000 rows", "s"),
}
"""Figures of data, in a section of their own."""
