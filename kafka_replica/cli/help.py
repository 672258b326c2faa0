"""The common parts of the help of commands: examples, environment variables, and short forms of frequent options."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import click

from kafka_replica.cli.log_output import DEBUG_VARIABLE, FORMAT_VARIABLE, LEVEL_VARIABLE

SHORT_OPTIONS: Final = {
    "--bootstrap-server": "-b",
    "--config": "-c",
    "--json": "-j",
    "--key-filter": "-k",
    "--name": "-n",
    "--out": "-o",
    "--port": "-p",
    "--structures": "-s",
    "--topic": "-t",
}
"""The short form of each option, which is the same in all commands."""

EXAMPLES: Final[dict[str, tuple[str, ...]]] = {
    "": (
        "broker start",
        "samples",
        "publish samples --create-topic --topic sdmx.structures",
        'get "SDMX:CL_FREQ(2.1)" --topic sdmx.structures',
    ),
    "broker": ("broker start", "broker status", "broker stop"),
    "broker start": (
        "broker start",
        "broker start --name second --port 9093 --data ./kafka-data",
        "broker start --set message.max.bytes=16777216 --foreground",
    ),
    "broker status": ("broker status", "broker status --name second --json"),
    "broker stop": ("broker stop", "broker stop --name second"),
    "doctor": ("doctor -t sdmx.structures", "doctor -b broker:9093 -c client.properties -t sdmx.structures"),
    "dump": ("dump -t sdmx.structures", "dump -t sdmx.structures --json --store ./replica"),
    "explain": ("explain StoreInUseError", "explain code-unknown", "explain 3"),
    "get": (
        'get "SDMX:CL_FREQ(2.1)" -t sdmx.structures',
        "get SDMX:CL_FREQ -t sdmx.structures --json",
        'get "urn:sdmx:org.sdmx.infomodel.codelist.Codelist=SDMX:CL_FREQ(2.1)" -t sdmx.structures',
    ),
    "list": (
        "list -t sdmx.structures",
        'list "CL_*" -t sdmx.structures',
        'list "Codelist=ESTAT:*" -t sdmx.structures',
    ),
    "map": (
        'map data.csv --map "ESTAT:OLD_TO_NEW(1.0)" -t sdmx.structures -o mapped',
        'map data.csv --map "ESTAT:OLD_TO_NEW(1.0)" -s structures/ -o mapped',
    ),
    "monitoring": ("monitoring", "monitoring /etc/prometheus/rules --docs-url https://docs.example.org"),
    "producer": (
        "producer run --config producer.toml",
        "producer status --config producer.toml",
    ),
    "producer claim": ("producer claim --config producer.toml",),
    "producer delete": ("producer delete --config producer.toml",),
    "producer flush": ("producer flush --config producer.toml",),
    "producer list": ("producer list --config producer.toml",),
    "producer migrate": ("producer migrate --config producer.toml",),
    "producer replace": ("producer replace 17 corrected.xml --config producer.toml",),
    "producer resume": ("producer resume --config producer.toml",),
    "producer run": (
        "producer run --config producer.toml",
        "producer run --config producer.toml --watch ./structures --metrics-port 9100",
    ),
    "producer show": ("producer show 17 --config producer.toml",),
    "producer skip": ("producer skip 17 --config producer.toml",),
    "producer status": ("producer status --config producer.toml", "producer status --config producer.toml --json"),
    "producer suspend": ('producer suspend --config producer.toml --reason "maintenance"',),
    "publish": (
        "publish codelists.xml structures/ -t sdmx.structures --create-topic",
        'publish -t sdmx.structures --delete "urn:sdmx:org.sdmx.infomodel.codelist.Codelist=SDMX:CL_FREQ(2.0)"',
    ),
    "samples": ("samples", "samples ./somewhere"),
    "serve": (
        "serve --config serve.toml",
        "serve -t sdmx.structures --store ./replica --port 8080",
    ),
    "source": ("source run --config source.toml", "source compare --config source.toml --dry-run"),
    "source claim": ("source claim --config source.toml",),
    "source compare": ("source compare --config source.toml", "source compare --config source.toml --dry-run"),
    "source run": ("source run --config source.toml", "source run --config source.toml --create-topic --compare"),
    "status": ("status -t sdmx.structures", "status -t sdmx.structures --json"),
    "topics": (
        "topics create topics.toml",
        "topics check topics.toml --json",
        "topics obsolete topics.toml",
        "topics name --env folio --tenant diku --module mod-inventory-storage --entity item",
    ),
    "topics check": ("topics check topics.toml", "topics check topics.toml -b broker:9093 -c client.properties --json"),
    "topics create": ("topics create topics.toml", "topics create topics.toml -b broker:9093"),
    "topics group": ("topics group mod-search", "topics group mod-search --tenant diku"),
    "topics name": (
        "topics name --env folio --tenant diku --module mod-inventory-storage --entity item",
        'topics name --env folio --tenant "*" --producer inventory --entity item',
    ),
    "topics obsolete": ("topics obsolete topics.toml",),
    "topics parse": (
        "topics parse folio.diku.inventory.item",
        'topics parse folio.Default.diku.DI_COMPLETED --convention "[{env}.]Default.{tenant}.{entity}"',
    ),
    "validate": (
        'validate data.csv --flow "ESTAT:NA_MAIN(1.6)" -t sdmx.structures -o checked',
        'validate data.csv --flow "ESTAT:NA_MAIN(1.6)" -s structures/ -o checked',
    ),
    "watch": ("watch -t sdmx.structures", "watch -t sdmx.structures --json"),
}
"""The examples by command; the empty text means the whole program."""

VARIABLES: Final = {
    "KAFKA_REPLICA_BOOTSTRAP_SERVERS": "Brokers, if --bootstrap-server is not given.",
    "KAFKA_REPLICA_CACHE": 'Folder for downloads of "broker start".',
    "KAFKA_REPLICA_COMPILED": "0 ignores the compiled modules, 1 fails if they are missing.",
    "KAFKA_REPLICA_DEBUG": "1 shows stack traces and the log of Kafka's client.",
    "KAFKA_REPLICA_LOG_FORMAT": "text or json, if --log-format is not given.",
    "KAFKA_REPLICA_LOG_LEVEL": "info, warning or error, if --log-level is not given.",
    "KAFKA_REPLICA_MAVEN_ROOT": 'Repository of Kafka for "broker start".',
    "KAFKA_REPLICA_STATE": "Folder with the list of started brokers.",
    "KAFKA_REPLICA_STORE": "Folder of a replica, if --store is not given.",
    "KAFKA_REPLICA_TOPIC": "Topic, if --topic is not given.",
}
"""The meaning of each environment variable."""
_OF_BROKERS: Final = ("KAFKA_REPLICA_CACHE", "KAFKA_REPLICA_MAVEN_ROOT", "KAFKA_REPLICA_STATE")


def add_examples(command: click.Command, words: str) -> None:
    """Add short options, examples and environment variables to a command and its subcommands.

    Args:
        command: the command, which is changed in place.
        words: the words that call the command, such as ``broker start``; empty for the whole program.
    """
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            parameter.show_envvar = True
            letters = [letter for name in parameter.opts if (letter := SHORT_OPTIONS.get(name))]
            parameter.opts[:] = [*letters, *(name for name in parameter.opts if name not in letters)]
    command.epilog = _epilog(EXAMPLES.get(words, ()), _variables_of(command, words))
    if isinstance(command, click.Group):
        for name, below in command.commands.items():
            add_examples(below, f"{words} {name}")


def _variables_of(command: click.Command, words: str) -> Iterable[str]:
    if not words:
        return VARIABLES
    own = {str(option.envvar) for option in command.params if isinstance(option, click.Option) and option.envvar}
    own |= {*_OF_BROKERS} if words.startswith("broker") else set()
    return sorted({*own, DEBUG_VARIABLE, FORMAT_VARIABLE, LEVEL_VARIABLE})


def _epilog(examples: Iterable[str], variables: Iterable[str]) -> str:
    """Return the text below the options, with backspace characters, which prevent click from wrapping paragraphs."""
    shown = [f"  kafka-replica {example}" for example in examples]
    width = max(map(len, VARIABLES)) + 2
    explained = [f"  {name:<{width}}{VARIABLES[name]}" for name in variables]
    blocks = (["Examples:", *shown] if shown else [], ["Environment variables:", *explained])
    return "\n\n".join("\b\n" + "\n".join(lines) for lines in blocks if lines)
