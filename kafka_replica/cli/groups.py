"""The tree of commands. Each command is imported when it is called, because some need optional packages."""

from __future__ import annotations

from importlib import import_module, metadata
from typing import Any, Final, NamedTuple

import click

from kafka_replica.cli.help import add_examples
from kafka_replica.cli.interrupts import exit_at_ctrl_c, raise_at_ctrl_c
from kafka_replica.cli.log_output import FORMAT_VARIABLE, FORMATS, LEVEL_VARIABLE, LEVELS, set_format, set_level
from kafka_replica.cli.output import closed_pipes, print_line
from kafka_replica.common.compiled import parser_name
from kafka_replica.common.wording import did_you_mean
from kafka_replica.errors import MissingExtraError


class _Command(NamedTuple):
    """The module of a command, and its summary in the list of commands."""

    module: str
    name: str
    summary: str


_COMMANDS: Final = {
    "broker": _Command("broker", "broker", "Start, stop and show a real Kafka broker on this machine."),
    "doctor": _Command("doctor", "doctor", "Test the connection, the topic and its settings."),
    "dump": _Command("dump", "dump", "Print every key of one version."),
    "explain": _Command("explain", "explain", "Explain an error, a rule or an exit status."),
    "get": _Command("get", "get", "Print the value of one key."),
    "list": _Command("list", "list_keys", "Print the keys, or those that match a pattern."),
    "map": _Command("map", "map_data", "Map data to another structure."),
    "monitoring": _Command("monitoring", "monitoring", "Write alerts for Prometheus and a dashboard for Grafana."),
    "producer": _Command("producer", "producer", "Run and control the reference producer."),
    "publish": _Command("publish", "publish", "Publish structure files in one transaction."),
    "samples": _Command("samples", "samples", "Write sample files for experiments."),
    "serve": _Command("serve", "serve", "Serve structures over HTTP, live."),
    "source": _Command("source", "source", "Copy a PostgreSQL table to a topic."),
    "status": _Command("status", "status", "Print the status of a replica of the topic."),
    "topics": _Command("topics", "topics", "Name, create and check topics; list obsolete ones."),
    "validate": _Command("validate", "validate", "Validate data against a structure."),
    "watch": _Command("watch", "watch", "Print each new version as it arrives."),
}


class LazyGroup(click.Group):
    """A group whose commands are listed in ``_COMMANDS``."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Parse the command line, and write the help of the whole program if it is requested."""
        with closed_pipes():  # otherwise click ends the process with status 1
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command, or write its help."""
        with closed_pipes():
            return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands."""
        del ctx
        return sorted(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command; if its packages are missing, return a command that reports this error."""
        del ctx
        found = _COMMANDS.get(cmd_name)
        if found is None:
            return None
        at_once = exit_at_ctrl_c()
        try:
            command: click.Command = getattr(import_module(f"kafka_replica.cli.commands.{found.module}"), found.name)
        except MissingExtraError as error:
            return _missing(cmd_name, error)
        finally:
            if at_once:
                raise_at_ctrl_c()
        add_examples(command, cmd_name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that is called; if there is no such command, suggest similar names."""
        name = args[0]
        if name not in _COMMANDS and not name.startswith("-"):
            ctx.fail(f"No such command {name!r}{did_you_mean(name, _COMMANDS, 3) or '.'}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing the commands, which would take seconds."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.summary) for name, command in sorted(_COMMANDS.items())])


def _missing(name: str, error: MissingExtraError) -> click.Command:
    def report_error(**_given: Any) -> None:
        raise error

    arguments = click.Argument(["anything"], nargs=-1, type=click.UNPROCESSED)
    settings = {"ignore_unknown_options": True, "help_option_names": list[str]()}
    return click.Command(name, params=[arguments], callback=report_error, help=str(error), context_settings=settings)


def _show_version(context: click.Context, _option: click.Parameter, is_wanted: bool) -> None:
    if is_wanted and not context.resilient_parsing:
        version = metadata.version("kafka-replica")
        print_line(f"kafka-replica, version {version}, with the {parser_name()} parser of record batches")
        context.exit()


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "-V", "--version", is_flag=True, is_eager=True, expose_value=False, callback=_show_version,
    help="Show the version and the parser of record batches, and exit.",
)  # fmt: skip
@click.option(
    "--log-format", type=click.Choice(FORMATS), default="text", envvar=FORMAT_VARIABLE,
    help="Format of messages on stderr: text, or a JSON object in each line.",
)  # fmt: skip
@click.option(
    "--log-level", type=click.Choice(LEVELS), default="warning", envvar=LEVEL_VARIABLE,
    help="Least important log lines on stderr; info shows each change of a replica's state.",
)  # fmt: skip
def kafka_replica(log_format: str, log_level: str) -> None:
    """Live, exact copies of compacted Kafka topics, which show whole transactions only."""
    set_format(log_format)
    set_level(log_level)


add_examples(kafka_replica, "")
