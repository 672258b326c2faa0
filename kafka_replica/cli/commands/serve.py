"""``kafka-replica serve``: serves the read API of a registry over HTTP from a replica."""

from __future__ import annotations

import logging
import os
import sys
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import reduce
from operator import or_
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kafka_replica.cli.log_output import begin_long_run, is_json
from kafka_replica.cli.options import topic_names
from kafka_replica.cli.output import print_json_line, print_line
from kafka_replica.cli.properties import SERVERS, SERVERS_VARIABLE, is_from_environment, properties
from kafka_replica.cli.ready import rocks_store
from kafka_replica.cli.serve_options import (
    VARIABLE_PREFIX,
    ServedReplica,
    located_errors,
    serve_options,
    settings_of,
)
from kafka_replica.common.property_files import read_settings_file
from kafka_replica.errors import ConfigurationError
from kafka_replica.filters import KeyFilter
from kafka_replica.replica import Replica
from kafka_replica.replication.dead_letters import DeadLetterFile
from kafka_replica.server import ListenSettings, ServerSettings
from kafka_replica.server import serve as serve_replica
from kafka_replica.server.operation.access_log import ACCESS_LOGGER, JsonAccess
from kafka_replica.server.operation.control_log import CONTROL_LOGGER
from kafka_replica.stores import MemoryStore

if TYPE_CHECKING:
    from kafka_replica.history import VersionHistory


@click.command(context_settings={"auto_envvar_prefix": VARIABLE_PREFIX})
@serve_options
def serve(config: Path | None, servers: str | None, kafka_property: tuple[str, ...], json: bool, **given: Any) -> None:
    """Serve structures over HTTP from a live replica, until SIGTERM or Ctrl-C.

    Each setting is a flag, an environment variable, or a key of the file, in this order of precedence.
    """
    from kafka_replica.cli.run import TerminationSignal  # noqa: PLC0415 - it imports the tree of commands

    with suppress(KeyboardInterrupt, TerminationSignal):  # a signal before or after those that the server handles
        settings, listen = settings_of(ServerSettings, given), settings_of(ListenSettings, given)
        served, kafka = settings_of(ServedReplica, given), _kafka(config, servers, kafka_property)
        _serve(served, kafka, settings, listen, json=json)


def _serve(
    served: ServedReplica, kafka: dict[str, Any], settings: ServerSettings, listen: ListenSettings, *, json: bool
) -> None:
    with located_errors(ServedReplica):
        replica = _replica(served, kafka)
    begin_long_run()
    _log_accesses(listen.access_log)

    def announce(address: str) -> None:
        if json:
            print_json_line({"address": address, "topic": replica.topic})
        else:
            print_line(f"serving {replica.topic} at {address}")

    with _history(served) as history:
        if history is not None:
            history.follow(replica)
        with replica:
            serve_replica(replica, settings, listen, history=history, on_listening=announce)


def _history(served: ServedReplica) -> AbstractContextManager[VersionHistory | None]:
    """Return a context manager for the history on disk, which yields None if no history is kept."""
    if served.history_path is None:
        return nullcontext()
    from kafka_replica.history import VersionHistory  # noqa: PLC0415 - needs an extra

    return VersionHistory(served.history_path, keep_s=served.history_keep_s, keep_versions=served.history_keep_versions)


def _kafka(file: Path | None, servers: str | None, given: tuple[str, ...]) -> dict[str, Any]:
    """Return the properties of Kafka's clients from the file, the environment and the flags, in rising precedence."""
    prefix = f"{VARIABLE_PREFIX}_KAFKA_"
    variables = {
        f"{name.removeprefix(prefix).replace('_', '.').lower()}={value}": name
        for name, value in os.environ.items()
        if name.startswith(prefix)
    }
    has_table = file is not None and "kafka" in read_settings_file(file).values
    files = [str(file)] if has_table else []
    if servers is not None and is_from_environment("servers"):  # a flag --kafka-property precedes this variable
        variables[f"{SERVERS}={servers}"] = SERVERS_VARIABLE
        servers = None
    sources = {**variables, **dict.fromkeys(given, "--kafka-property")}
    return properties(servers, (*files, *variables, *given), sources)


def _replica(served: ServedReplica, kafka: dict[str, Any]) -> Replica:
    if not served.topic:
        raise ConfigurationError("no topic to serve: give --topic, or topic in the table [replica] of the file")
    try:
        topics = topic_names(served.topic)
    except click.BadParameter as error:
        raise ConfigurationError(f"topic: {error.message}") from error
    if served.store is not None and served.checkpoint is not None:
        raise ConfigurationError("store and checkpoint exclude each other: a replica is either on disk or in memory")
    dead_letters = None if served.dead_letters is None else DeadLetterFile(served.dead_letters)
    on_bad_record: Any = served.on_bad_record if dead_letters is None else "dead-letter"
    boundaries: Any = served.boundaries
    return Replica(
        kafka,
        topics=topics,
        store=MemoryStore(served.checkpoint) if served.store is None else rocks_store(served.store),
        one_key_space=len(topics) > 1,
        boundaries=boundaries,
        key_filter=reduce(or_, map(KeyFilter.pattern, served.key_filter)) if served.key_filter else None,
        on_bad_record=on_bad_record,
        dead_letters=dead_letters,
        large_values=served.large_values,
        kept_versions=served.kept_versions,
        recent_changes=served.recent_changes,
        stalled_after_s=served.stalled_after_s,
    )


def _log_accesses(form: str) -> None:
    """Write a line for each request to stderr, without changing other loggers."""
    name = CONTROL_LOGGER if form == "off" else ACCESS_LOGGER  # requests that control the service are always logged
    logger, handler = logging.getLogger(name), logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonAccess() if form == "json" or is_json() else logging.Formatter("%(asctime)s %(message)s"))
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False
    if form == "off":  # at --log-level info, requests would be logged with the other lines
        logging.getLogger(ACCESS_LOGGER).setLevel(logging.WARNING)
