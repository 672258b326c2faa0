"""``kafka-replica producer``: runs the reference producer, and controls a running one."""

from __future__ import annotations

import math
import sys
import threading
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path

import click

from kafka_replica.cli.log_output import begin_long_run
from kafka_replica.cli.notices import StoppingPrinter
from kafka_replica.cli.numbers import Number, WholeNumber
from kafka_replica.cli.output import OutputClosedError, print_json_line, print_line
from kafka_replica.common.wording import counted
from kafka_replica.errors import MissingExtraError

try:
    import tenacity  # noqa: F401
except ImportError as error:
    raise MissingExtraError("the producer", "producer") from error

import kafka_replica.producer.outbox  # noqa: F401 - raises an error if the extra is not installed
from kafka_replica.cli.commands.producer_transactions import list_transactions, show, skip
from kafka_replica.cli.commands.producer_transactions import replace as replace_records
from kafka_replica.cli.producer_options import control_of, producer_options, report_success
from kafka_replica.producer.configuration_files.configuration import Configuration, make_source, read_configuration
from kafka_replica.producer.notices.mail import Mailer
from kafka_replica.producer.notices.notices import Notice
from kafka_replica.producer.outbox import Mode, open_database
from kafka_replica.producer.outbox import migrate as migrate_tables
from kafka_replica.producer.outbox.migrate import Migration
from kafka_replica.producer.service.structure_producer import ProducerStatus, StructureProducer
from kafka_replica.producer.settings.producer_settings import ProducerSettings
from kafka_replica.producer.sources.folder import FolderSettings
from kafka_replica.producer.sources.watcher import Watcher


@click.group()
def producer() -> None:
    """The reference producer: sends recorded transactions to Kafka, exactly once and in order."""


for _command in (list_transactions, show, skip, replace_records):
    producer.add_command(_command)


@producer.command()
@producer_options
@click.option(
    "--watch",
    "folders",
    multiple=True,
    metavar="DIR",
    type=click.Path(file_okay=False),
    help="Record the structure files of this folder, and later changes of them. Repeatable.",
)
@click.option("--metrics-port", type=WholeNumber(0, 65535), help="Serve metrics for Prometheus on this port.")
@click.option(
    "--database-wait-s",
    "wait_s",
    type=Number(min=0),
    default=math.inf,
    metavar="SECONDS",
    help="Maximum wait for the database at startup, in seconds; unlimited by default.",
)
def run(file: Path, as_json: bool, folders: tuple[str, ...], metrics_port: int | None, wait_s: float) -> None:
    """Publish recorded transactions, or stand by while another instance publishes, until interrupted."""
    configuration = read_configuration(file)
    source = FolderSettings(folders) if folders else configuration.source
    begin_long_run()
    closed = threading.Event()
    printer = StoppingPrinter(as_json=as_json, stop=partial(_stop, closed))
    with ExitStack() as stack:
        export = None if metrics_port is None else _serve_metrics(stack, configuration.producer, metrics_port)
        made = stack.enter_context(_open_producer(configuration, wait_s, printer))
        if export is not None:
            export(made)
        if source is not None:
            stack.enter_context(Watcher(make_source(source, configuration.producer.media_type), made))
        closed.wait()
        printer.raise_if_closed()


def _stop(closed: threading.Event) -> None:
    """End ``producer run``, because the reader of its output has ended.

    Raises:
        OutputClosedError: the main thread has printed the notice, while it waited for the database.
    """
    closed.set()
    if threading.current_thread() is threading.main_thread():
        raise OutputClosedError


def _serve_metrics(stack: ExitStack, settings: ProducerSettings, port: int) -> Callable[[StructureProducer], None]:
    """Serve metrics, at first only that the database is unavailable; return a function that exports the producer."""
    from kafka_replica.metrics.producer import announce_producer, export_producer, serve_metrics  # noqa: PLC0415 - an extra

    withdraw = announce_producer(settings.id or "", settings.topic)
    stack.callback(withdraw)
    stack.callback(serve_metrics(port))

    def export(made: StructureProducer) -> None:
        export_producer(made)
        withdraw()

    return export


@producer.command()
@producer_options
@click.option(
    "--watch-s",
    type=Number(min=0),
    default=5.0,
    show_default=True,
    help="How long to watch its heartbeat, in seconds.",
)
def status(file: Path, as_json: bool, watch_s: float) -> None:
    """Show the status of the producer; exits 0 only if it publishes."""
    with control_of(file) as made:
        found = made.status(watch_s=watch_s)
    if as_json:
        print_json_line(found.as_json())
    else:
        _show(found, watch_s)
    sys.exit(0 if found.running else 1)


@producer.command()
@producer_options
def migrate(file: Path, as_json: bool) -> None:
    """Create the producer's tables in the database, or migrate them to this version; ``run`` does this as well."""
    database = read_configuration(file).producer.database
    engine = open_database(str(database))
    try:
        found = migrate_tables(engine)
    finally:
        engine.dispose()
    texts = {
        Migration.CREATED: "created the producer's tables; changes can be recorded after the first start of the "
        f"producer: kafka-replica producer run --config {file}",
        Migration.UPDATED: "migrated the producer's tables to the current version",
        Migration.UNCHANGED: "the producer's tables have the current version already; nothing was changed",
    }
    report_success(as_json, "migrate", texts[found])


@producer.command()
@producer_options
@click.option(
    "--new-incarnation",
    is_flag=True,
    help="After a restore or lost commits of the database: ignore the progress recorded in Kafka.",
)
def flush(file: Path, as_json: bool, new_incarnation: bool) -> None:
    """Send all present content in one transaction, and tombstones for all other keys in another."""
    with control_of(file) as made:
        recorded = made.flush(new_incarnation=new_incarnation)
    report_success(
        as_json, "flush", f"recorded as transactions {recorded[0]} and {recorded[1]}; the running instance sends them"
    )


@producer.command()
@producer_options
@click.option("--reason", default="by request", show_default=True, help="Reason shown in the status.")
def suspend(file: Path, as_json: bool, reason: str) -> None:
    """Stop sending until the producer is resumed or started again; recording continues."""
    with control_of(file) as made:
        made.suspend(reason)
    report_success(as_json, "suspend", "no more transactions are sent")


@producer.command()
@producer_options
def resume(file: Path, as_json: bool) -> None:
    """Resume sending: pending and failed transactions are sent in the order in which they were recorded."""
    with control_of(file) as made:
        made.resume()
    report_success(as_json, "resume", "the producer continues")


@producer.command()
@producer_options
def claim(file: Path, as_json: bool) -> None:
    """Make this database the one that publishes under the producer's id, after it was moved or replaces another one."""
    with control_of(file) as made:
        made.claim()
    report_success(
        as_json, "claim", f"this database publishes as {made.settings.transactional_id} when the producer is resumed"
    )


@producer.command()
@producer_options
@click.confirmation_option(prompt="Delete the configuration and all recorded transactions?")
def delete(file: Path, as_json: bool) -> None:
    """Delete the configuration and everything that was recorded; the topics keep their records."""
    with control_of(file) as made:
        made.delete()
    report_success(as_json, "delete", "deleted; the topic is unchanged")


def _open_producer(
    configuration: Configuration, wait_s: float, observer: Callable[[Notice], None]
) -> StructureProducer:
    """Return a producer that waits up to ``wait_s`` seconds for its database."""
    made = StructureProducer(replace(configuration.producer, database_wait_s=wait_s), observers=[observer])
    if configuration.mail is not None:
        made.observe(Mailer(configuration.mail, made.id))
    return made


def _show(found: ProducerStatus, watch_s: float) -> None:
    print_line(f"Running: {str(found.running).lower()}")
    print_line(f"mode: {found.mode}{_cause(found)}")
    liveness = "alive" if found.owner_lives else f"no heartbeat seen in {watch_s:g} s"
    print_line(f"instance: {'none' if found.owner is None else f'{found.owner} ({liveness})'}")
    print_line(f"producer: {found.id}, topic {found.topic}{f', {found.media_type}' if found.media_type else ''}")
    print_line(f"sent: {found.sent:,} of {found.recorded:,} recorded")
    print_line(f"pending: {found.pending:,} ({counted(found.pending_bytes, 'byte')})")
    if found.not_carried:
        print_line(f"not representable in the format: {counted(found.not_carried, 'record')}")
    if found.skipped_records or found.skipped:
        records = counted(found.skipped_records, "record")
        print_line(f"skipped by request: {counted(found.skipped, 'transaction')}, {records}")
    if found.failed is not None:
        print_line(f"failed: transaction {found.failed.tx_id}, status {found.failed.status}: {found.failed.error}")


def _cause(found: ProducerStatus) -> str:
    """Return the reason of the mode, or the reason why a producer does not run although its mode is running."""
    if found.reason:
        return f" ({found.reason})"
    if found.mode is not Mode.RUNNING or found.running:
        return ""
    if found.owner is None:
        return " (requested, but no instance publishes; start one with kafka-replica producer run)"
    return " (requested, but the instance below seems to have ended; if none stands by to take over, start one)"
