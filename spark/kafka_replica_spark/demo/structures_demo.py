"""The demonstration of structures, with a function for each part; every statement is verified before it is printed."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from itertools import islice
from typing import Any

from prometheus_client import CollectorRegistry, generate_latest

from kafka_replica import Change, Replica
from kafka_replica.broker.admin.topics import Topics
from kafka_replica.broker.topic_settings import STRUCTURE_TOPIC
from kafka_replica.common.wording import counted
from kafka_replica.demo.output import DemoOutput, expect, stderr_hidden, wait_until
from kafka_replica.embedded import kafka_for
from kafka_replica.errors import MissingExtraError
from kafka_replica.metrics import export_replica
from kafka_replica.producer import CommittedTransaction, TransactionalProducer
from kafka_replica.producer.structures import put_part
from kafka_replica.sdmx import Structures
from kafka_replica.sdmx.files.structure_files import FileContents as Files
from kafka_replica_spark.demo import sample_data

_SHOWN_METRICS = ("_lag_records{", "_lag_seconds{", "_keys{", "_versions_total{", 'state="live"')


def run_structures_demo(*, bootstrap_server: str | None, keep: bool) -> None:
    """Run the whole demonstration.

    Args:
        bootstrap_server: the address of an existing Kafka; None starts a broker.
        keep: whether to keep running after the last step, until Ctrl-C.

    Raises:
        KafkaReplicaError: a part failed, or had an unexpected result.
    """
    began_s = time.monotonic()
    output = DemoOutput()
    output.begin_part("A Kafka broker")
    with output.waiting("starting Kafka (45 MB are downloaded the first time)") as update:
        made = kafka_for(bootstrap_server, progress=update).start()
    with made as kafka:
        config = {"bootstrap.servers": kafka.bootstrap_servers}
        output.print(
            f"Apache Kafka listens at [bold]{kafka.bootstrap_servers}[/], started in {time.monotonic() - began_s:.1f} s"
        )
        run = int(time.time())  # a running Kafka may hold data of an earlier demonstration
        topic = f"demo.structures.{run}"
        files = sample_data.structures()
        producer = _publish_structures(output, config, topic, files)
        _read_large_topic(output, config, f"demo.terminals.{run}")
        with Replica(config, topic) as replica:
            registry = CollectorRegistry()
            export_replica(replica, registry=registry)
            _look_up_structures(output, replica, files)
            _change_together(output, replica, producer, files)
            _delete_structure(output, replica, producer)
            _validate_data(output, replica)
            _show_metrics(output, replica, registry)
            output.print(
                f"\n   [bold green]Each step had the expected result[/], in {time.monotonic() - began_s:.0f} s."
            )
            if keep:
                _run_until_interrupted(output, replica, kafka.bootstrap_servers, topic)


def _publish_structures(output: DemoOutput, config: dict[str, Any], topic: str, files: Files) -> TransactionalProducer:
    output.begin_part("Publish structures in one Kafka transaction")
    Topics(config).create(topic, 1, STRUCTURE_TOPIC, 20)
    producer = TransactionalProducer(config, topic, f"{topic}-registry")
    began_s = time.monotonic()
    with producer.transaction() as transaction:
        for part in output.track(list(files.parts.values()), "publishing"):
            put_part(transaction, part)
    producer.wait_visible(transaction.committed)
    origin = (
        "files of public registries and the project's sample" if sample_data.corpus_folder() else "the project's sample"
    )
    output.print(f"{len(files.parts):,} structures, from {origin}, published in {time.monotonic() - began_s:.2f} s")
    if files.left_out:
        output.print(
            f"[dim]{counted(len(files.left_out), 'file')} left out: no single artefacts can be read from them[/]"
        )
    return producer


def _read_large_topic(output: DemoOutput, config: dict[str, Any], topic: str) -> None:
    output.begin_part("Read a large topic: keys and values are any bytes")
    Topics(config).create(topic, 1, {"cleanup.policy": "compact"}, 20)
    producer = TransactionalProducer(config, topic, f"{topic}-directory")
    records = sample_data.many_records()
    count = sample_data.RECORDS // sample_data.RECORDS_PER_TRANSACTION
    written: list[CommittedTransaction] = []
    for _ in output.track(range(count), "writing"):
        with producer.transaction() as transaction:
            for key, value in islice(records, sample_data.RECORDS_PER_TRANSACTION):
                transaction.put(key, value)
        written.append(transaction.committed)
    producer.wait_visible(written[-1])
    began_s = time.monotonic()
    with Replica(config, topic) as replica:
        snapshot = replica.wait_ready(timeout_s=60)
        took_s = time.monotonic() - began_s
    expect(len(snapshot) == sample_data.RECORDS, f"the replica holds {len(snapshot)} of {sample_data.RECORDS} keys")
    output.print(
        f"{len(snapshot):,} records of 1 KB in {count:,} transactions, ready in {took_s:.2f} s: "
        f"[bold]{len(snapshot) / took_s:,.0f} records per second[/]"
    )


def _look_up_structures(output: DemoOutput, replica: Replica, files: Files) -> None:
    output.begin_part("Look up structures in one version")
    snapshot = replica.wait_ready(timeout_s=60)
    expect(len(snapshot) == len(files.parts), f"the replica holds {len(snapshot)} of {len(files.parts)} structures")
    structures = Structures(snapshot)
    output.print(f"version {snapshot.version}, at {snapshot.position}: {len(snapshot):,} structures")
    annual = structures.codelist("SDMX:CL_FREQ(2.1)").codes["A"]
    output.print(
        f'codelist("SDMX:CL_FREQ(2.1)").codes["A"]: [bold]{annual.name("en")}[/], in French {annual.name("fr")}'
    )
    expect(annual.name("en") == "Annual", "the code A of SDMX:CL_FREQ(2.1) is not Annual")
    flow = structures.dataflow(sample_data.LABOUR)
    output.print(f'dataflow("{sample_data.LABOUR}"): "{flow.name("en")}", with these components:')
    resolved = structures.components(str(flow.structure))
    output.print_table(
        ("component", "codes from"),
        [(part.component.id, part.enumeration.reference if part.enumeration else "-") for part in resolved],
    )


def _change_together(output: DemoOutput, replica: Replica, producer: TransactionalProducer, files: Files) -> None:
    output.begin_part("Change several structures in one transaction")
    received: list[Change] = []
    listening = replica.subscribe(received.append)
    wait_until(lambda: received, "the listener did not get the current state")
    before = replica.snapshot()
    areas = files.parts[sample_data.AREAS]
    others = [part for part in files.parts.values() if part.urn.agency == "KR_DEMO" and part.urn != areas.urn][:2]
    with producer.transaction() as transaction:
        put_part(transaction, sample_data.with_portugal(areas))
        time.sleep(0.3)
        expect(replica.snapshot() is before, "a version was published in the middle of a transaction")
        output.print("a changed codelist was sent, and its transaction is still open: the replica does not show it")
        for part in others:
            put_part(transaction, part)
        requested_s = time.monotonic()
    wait_until(lambda: len(received) > 1, "the change was not seen")
    took_s = time.monotonic() - requested_s
    change = received[1]
    expect(set(change.changed) == {bytes(part.urn) for part in (areas, *others)}, "the change is not the one sent")
    output.print(
        f"[bold]version {change.version} changes {len(change.changed)} structures together[/], "
        f"{took_s * 1000:.0f} ms after the commit started"
    )
    old, new = (Structures(snapshot).codelist(areas.urn) for snapshot in (before, change.snapshot))
    expect(
        "PT" in new.codes and "PT" not in old.codes,
        "the new code is missing from the new version, or already in the old one",
    )
    output.print(
        f"code PT exists in version {change.version}, and not in version {before.version}, which a reader still uses"
    )
    listening.close()


def _delete_structure(output: DemoOutput, replica: Replica, producer: TransactionalProducer) -> None:
    output.begin_part("Delete a structure")
    flow = "urn:sdmx:org.sdmx.infomodel.datastructure.Dataflow=KR_DEMO:AIR(1.0.0)"
    expect(replica.snapshot().get(flow), f"{flow} is not there to be deleted")
    with producer.transaction() as transaction:
        transaction.delete(flow)
    wait_until(lambda: replica.snapshot().get(flow) is None, "the deletion was not seen")
    output.print(f"KR_DEMO:AIR(1.0.0) was deleted in version {replica.snapshot().version}")


def _validate_data(output: DemoOutput, replica: Replica) -> None:
    output.begin_part("Validate data in Spark against this version")
    from kafka_replica_spark import session, validate  # noqa: PLC0415 - starting it takes seconds, so late

    with output.waiting("starting Spark"), stderr_hidden():
        spark = session("kafka_replica demo")
    try:
        frame = spark.createDataFrame(
            sample_data.DATA, ", ".join(f"{name} string" for name in sample_data.DATA_COLUMNS)
        )
        snapshot = replica.snapshot()
        rows = validate(frame, sample_data.LABOUR, snapshot).collect()
    finally:
        spark.stop()
    bad = [row for row in rows if row["_errors"] is not None]
    output.print(
        f"{len(rows)} rows checked against {sample_data.LABOUR} of version {snapshot.version}: {len(bad)} are invalid"
    )
    output.print("[dim]row 4 is valid: its code PT (Portugal) was added in version 2[/]")
    output.print_table(
        ("row", "component", "value", "problem"),
        [
            (number, error["component"], error["value"] or "-", error["message"])
            for number, row in enumerate(rows, 1)
            for error in row["_errors"] or ()
        ],
    )
    expect(
        [row["_errors"] is not None for row in rows] == [False] * 4 + [True] * 4,
        "the findings of Spark are not the expected ones",
    )


def _show_metrics(output: DemoOutput, replica: Replica, registry: CollectorRegistry) -> None:
    output.begin_part("Export metrics to Prometheus")
    wait_until(lambda: replica.status().lag_records == 0, "the replica did not reach the end of the topic")
    for line in generate_latest(registry).decode().splitlines():
        if not line.startswith("#") and any(word in line for word in _SHOWN_METRICS):
            output.console.print(f"   {line}", markup=False, soft_wrap=True)


def _run_until_interrupted(output: DemoOutput, replica: Replica, bootstrap_servers: str, topic: str) -> None:
    output.begin_part("Run until Ctrl-C; each new version is printed")
    output.print(f"try: .venv/bin/kafka-replica watch --bootstrap-server {bootstrap_servers} --topic {topic}")
    output.print(f"     .venv/bin/kafka-replica list CL_ --bootstrap-server {bootstrap_servers} --topic {topic}")
    replica.subscribe(
        lambda change: output.print(
            f"version {change.version}: {len(change.changed):,} changed, {len(change.deleted):,} deleted"
        )
    )
    try:
        _serve_structures(output, replica)
    except MissingExtraError as error:
        output.print(f"[dim]not served over HTTP: {error}[/]")
        with suppress(KeyboardInterrupt):
            threading.Event().wait()
    output.print("closing")


def _serve_structures(output: DemoOutput, replica: Replica) -> None:
    """Serve the structures on the loopback address until SIGINT or SIGTERM.

    Raises:
        MissingExtraError: the extra ``server`` is not installed.
    """
    from kafka_replica.server import ListenSettings, serve  # noqa: PLC0415 - it may be missing

    serve(
        replica,
        listen=ListenSettings(port=0),
        on_listening=lambda address: output.print(f"the structures over HTTP: {address}/"),
    )
