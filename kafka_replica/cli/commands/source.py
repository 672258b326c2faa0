"""``kafka-replica source``: copies a PostgreSQL table to a topic."""

from __future__ import annotations

import logging
import time
from itertools import count
from pathlib import Path

import click

import kafka_replica.producer.postgres  # noqa: F401 - raises an error if the extra is not installed
from kafka_replica.broker.admin.topics import Topics
from kafka_replica.broker.topic_settings import STRUCTURE_TOPIC
from kafka_replica.broker.writing.faults import Fault, fault_of
from kafka_replica.cli.log_output import begin_long_run, log_message
from kafka_replica.cli.notices import StoppingPrinter
from kafka_replica.cli.output import print_json_line, print_line
from kafka_replica.cli.producer_options import producer_options, report_success
from kafka_replica.common.wording import counted
from kafka_replica.errors import BrokerError
from kafka_replica.producer.notices.notices import Retry
from kafka_replica.producer.postgres import TableSource, TableSourceSettings, read_source_settings
from kafka_replica.producer.postgres import claim as claim_database
from kafka_replica.producer.postgres import compare as compare_table
from kafka_replica.producer.relay.failures import retry_pause_s


@click.group()
def source() -> None:
    """Copy a PostgreSQL table to a compacted topic, exactly once and without skipping rows."""


@source.command()
@producer_options
@click.option("--create-topic", is_flag=True, help="Create the topic if it is missing, as doctor recommends.")
@click.option("--compare", is_flag=True, help="Compare all rows with the topic at the start, which finds deleted rows.")
def run(file: Path, as_json: bool, create_topic: bool, compare: bool) -> None:
    """Copy new and changed rows, or stand by while another instance does, until interrupted."""
    settings = read_source_settings(file)
    begin_long_run()
    printer = StoppingPrinter(as_json=as_json, stop=lambda: made.close())  # noqa: PLW0108 - made below
    made = TableSource(settings, observers=[printer])
    if create_topic:
        _create_topic(settings, printer)
    if compare:
        made.request_comparison()
    made.run()
    printer.raise_if_closed()


def _create_topic(settings: TableSourceSettings, printer: StoppingPrinter) -> None:
    """Create the topic unless it exists; wait for the end of an outage of Kafka, as the source does.

    Raises:
        BrokerError: Kafka refused.
        OutputClosedError: the reader of the standard output has ended.
    """
    for attempt in count(1):
        try:
            Topics(settings.kafka).create(settings.topic, 1, STRUCTURE_TOPIC, settings.timeout_s)
        except BrokerError as error:
            fault = fault_of(error)
            if fault is not Fault.TRANSITORY:
                raise
            log_message(f"kafka-replica: WARNING: {error}; trying again", logging.WARNING)
            printer(Retry(attempt, fault, str(error)))
            printer.raise_if_closed()
            time.sleep(retry_pause_s(attempt))
        else:
            return


@source.command()
@producer_options
@click.option("--dry-run", is_flag=True, help="Only count the differences.")
def compare(file: Path, as_json: bool, dry_run: bool) -> None:
    """Make the topic equal to the table, deleted rows included; if an instance is running, it does this."""
    found = compare_table(read_source_settings(file), dry_run=dry_run)
    if found is None:
        report_success(as_json, "compare", "another instance copies this table; it will compare")
        return
    changed, deleted = len(found.changed), len(found.deleted)
    if as_json:
        print_json_line({"changed": changed, "deleted": deleted, "dry_run": dry_run})
    else:
        found_text = f"{counted(changed, 'record')} to write, {counted(deleted, 'key')} to delete"
        print_line(f"{found_text}; nothing was written" if dry_run else f"{found_text}; all differences were written")


@source.command()
@producer_options
def claim(file: Path, as_json: bool) -> None:
    """Make this database the one that is copied, after it was moved or upgraded; the next run compares."""
    settings = read_source_settings(file)
    claim_database(settings)
    report_success(as_json, "claim", f"this database is now copied to topic {settings.topic}")
