"""The tree of commands. Each is loaded when it is asked for: some need packages that others do without."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import click

from kafka_replica.errors import MissingExtraError

_PLACES = {
    "broker": "kafka_replica.cli.broker:broker",
    "doctor": "kafka_replica.cli.doctor:doctor",
    "dump": "kafka_replica.cli.reading:dump",
    "get": "kafka_replica.cli.reading:get",
    "list": "kafka_replica.cli.reading:list_keys",
    "map": "kafka_replica.cli.mapping:map_data",
    "producer": "kafka_replica.cli.producer:producer",
    "publish": "kafka_replica.cli.publish:publish",
    "status": "kafka_replica.cli.reading:status",
    "validate": "kafka_replica.cli.validate:validate",
    "watch": "kafka_replica.cli.reading:watch",
}


class LazyGroup(click.Group):
    """A group whose commands are named in ``_PLACES``."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Their names."""
        del ctx
        return sorted(_PLACES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """One of them; where its packages are missing, one that says so."""
        del ctx
        place = _PLACES.get(cmd_name)
        if place is None:
            return None
        module, _, name = place.partition(":")
        try:
            command: click.Command = getattr(import_module(module), name)
        except MissingExtraError as error:
            return _missing(cmd_name, error)
        return command


def _missing(name: str, error: MissingExtraError) -> click.Command:
    def say(**_given: Any) -> None:
        raise error

    arguments = click.Argument(["anything"], nargs=-1, type=click.UNPROCESSED)
    settings = {"ignore_unknown_options": True, "help_option_names": list[str]()}
    return click.Command(name, params=[arguments], callback=say, help=str(error), context_settings=settings)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="kafka-replica")
def kafka_replica() -> None:
    """Live, exact copies of compacted Kafka topics: whole transactions, or nothing of them."""
