"""The tree of commands."""

from __future__ import annotations

import click

from kafka_replica.cli.broker import broker
from kafka_replica.cli.publish import publish
from kafka_replica.cli.reading import dump, get, list_keys, status, watch


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="kafka-replica")
def kafka_replica() -> None:
    """Live, exact copies of compacted Kafka topics: whole transactions, or nothing of them."""


for command in (broker, dump, get, list_keys, publish, status, watch):
    kafka_replica.add_command(command)
