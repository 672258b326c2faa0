"""``kafka-replica topics``: names topics and consumer groups, and creates and checks declared topics in a cluster."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import click

from kafka_replica.cli.options import BOOTSTRAP_SERVER, CONFIG, JSON, TIMEOUT_S, with_options
from kafka_replica.cli.output import print_json_line, print_line
from kafka_replica.cli.properties import properties
from kafka_replica.errors import UsageError
from kafka_replica.topics import (
    ANY,
    TopicConvention,
    TopicName,
    TopicReport,
    check_topics,
    consumer_group,
    create_topics,
    obsolete_topics,
    producer_of,
    read_declarations,
)

DIFFERENT: Final = 3
"""The exit status if topics are not as they are declared."""

_CONVENTION = click.option(
    "--convention", default=TopicConvention().template, show_default=True, metavar="TEMPLATE",
    help="The parts of a name: {env}, {tenant}, {producer}, {entity}, or a fixed text.",
)  # fmt: skip


@click.group()
def topics() -> None:
    """Name, create and check topics by a convention; list topics that are no longer declared.

    FILE declares the topics of an environment, in TOML: see docs/topics.md.
    """


def _declared_options(command: Callable[..., Any]) -> Callable[..., Any]:
    file = click.argument("file", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE")
    return with_options((JSON, TIMEOUT_S, CONFIG, BOOTSTRAP_SERVER, file), command)


@topics.command()
@_declared_options
def create(file: Path, bootstrap_server: str | None, configs: tuple[str, ...], timeout_s: float, as_json: bool) -> int:
    """Create the declared topics that are missing.

    Existing topics are compared, and never changed. Exits 0 if all topics are as they are declared, 3 if some differ.
    """
    declarations = read_declarations(file)
    return _report(create_topics(properties(bootstrap_server, configs), declarations, timeout_s), as_json)


@topics.command()
@_declared_options
def check(file: Path, bootstrap_server: str | None, configs: tuple[str, ...], timeout_s: float, as_json: bool) -> int:
    """Compare the declared topics with those in the cluster: partitions, replication and settings.

    Exits 0 if all topics are as they are declared, 3 if some are missing or differ.
    """
    declarations = read_declarations(file)
    return _report(check_topics(properties(bootstrap_server, configs), declarations, timeout_s), as_json)


@topics.command()
@_declared_options
def obsolete(
    file: Path, bootstrap_server: str | None, configs: tuple[str, ...], timeout_s: float, as_json: bool
) -> None:
    """List topics that follow a declared convention, in the declared environment, and are not declared.

    Nothing is deleted.
    """
    declarations = read_declarations(file)
    for name in obsolete_topics(properties(bootstrap_server, configs), declarations, timeout_s):
        print_json_line({"topic": name}) if as_json else print_line(name)


@topics.command()
@click.option("--env", help="The environment; omitted from the name if not given.")
@click.option("--tenant", help='The tenant; "*" means all.')
@click.option("--module", help="The module that writes the topic, such as mod-inventory-storage.")
@click.option("--producer", help="The producer, as written in the topic name; instead of --module.")
@click.option("--entity", required=True, help="The entity.")
@_CONVENTION
@JSON
def name(
    env: str | None,
    tenant: str | None,
    module: str | None,
    producer: str | None,
    entity: str,
    convention: str,
    as_json: bool,
) -> None:
    """Print the name of a topic; with "*" as a part, the regular expression of all such names."""
    if module is not None and producer is not None:
        raise UsageError("--module and --producer exclude each other")
    parts = TopicName(
        env=env, tenant=tenant, producer=producer if module is None else producer_of(module), entity=entity
    )
    by = TopicConvention(convention)
    if ANY in asdict(parts).values():
        pattern = by.pattern(parts)
        print_json_line({"regex": pattern.regex, "prefix": pattern.prefix}) if as_json else print_line(pattern.regex)
    else:
        built = by.build(parts)
        print_json_line({"topic": built}) if as_json else print_line(built)


@topics.command()
@click.argument("topic")
@_CONVENTION
@JSON
def parse(topic: str, convention: str, as_json: bool) -> None:
    """Print the parts of a topic's name."""
    found = {part: value for part, value in asdict(TopicConvention(convention).parse(topic)).items() if value}
    if as_json:
        print_json_line(found)
    else:
        for part, value in found.items():
            print_line(f"{part}: {value}")


@topics.command()
@click.argument("module")
@click.option("--tenant", help="The tenant, if the module has a group for each tenant.")
def group(module: str, tenant: str | None) -> None:
    """Print the consumer group of a module."""
    print_line(consumer_group(module, tenant))


def _report(reports: list[TopicReport], as_json: bool) -> int:
    for report in reports:
        if as_json:
            print_json_line({"topic": report.name, "state": report.state, "differences": report.differences})
        else:
            print_line(f"{report.name}: {report.state}")
            for difference in report.differences:
                print_line(f"  {difference}")
    return 0 if all(report.is_right for report in reports) else DIFFERENT
