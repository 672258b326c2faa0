"""``kafka-replica broker``: a real Kafka on this machine for trying things out."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from kafka_replica.cli.log_output import log_message
from kafka_replica.cli.numbers import WholeNumber
from kafka_replica.cli.output import print_json_line, print_line
from kafka_replica.cli.properties import SERVERS_VARIABLE
from kafka_replica.cli.started_broker import DEFAULT_NAME, choose_broker
from kafka_replica.embedded import ports
from kafka_replica.embedded.errors import EmbeddedKafkaError
from kafka_replica.embedded.local import LocalKafka
from kafka_replica.embedded.registry import NAME_RULE, Entry, Registry, is_name
from kafka_replica.errors import KafkaReplicaError

if TYPE_CHECKING:
    from types import FrameType

_KAFKAS_PORT = 9092


def _checked_name(context: click.Context, parameter: click.Parameter, value: str) -> str:
    del context, parameter
    if not is_name(value):
        raise click.BadParameter(f"{value!r} is not a valid name of a broker; {NAME_RULE}")
    return value


_NAME = click.option(
    "--name",
    default=DEFAULT_NAME,
    show_default=True,
    callback=_checked_name,
    help="Name of the broker, if there are several.",
)
_JSON = click.option("--json", "as_json", is_flag=True, help="One line of JSON, for scripts.")


@click.group()
def broker() -> None:
    """Start, stop and show a real Kafka broker on this machine.

    It only listens on the loopback address. Kafka itself is downloaded the first time (45 MB).
    """


@broker.command()
@click.option(
    "--port",
    type=WholeNumber(1, 65535),
    help="Port to listen on; by default 9092, or another one if that is in use.",
)
@click.option(
    "--data",
    type=click.Path(file_okay=False),
    metavar="DIR",
    help="Data folder to keep; by default the data is removed when the broker stops.",
)
@click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help="Broker setting. Repeatable.")
@click.option("--foreground", is_flag=True, help="Run in the foreground until interrupted, then stop the broker.")
@_NAME
@_JSON
def start(
    port: int | None, data: str | None, settings: tuple[str, ...], foreground: bool, name: str, as_json: bool
) -> None:
    """Start a broker, wait until it answers, and print its address.

    The broker runs until "broker stop". Its address is remembered: the other commands use it if neither they nor the
    environment name another one. The exit status is 0 if the broker runs, even if it was already running.
    """
    chosen = _settings(settings)
    folder = (
        None if data is None else os.path.realpath(Path(data).expanduser())
    )  # a relative path would be another folder elsewhere
    requested: dict[str, Any] = {"port": port, "data": folder, "settings": chosen}
    try:
        registry = Registry()
        with contextlib.ExitStack() as running:
            with registry.changing(name):
                there = registry.find(name)
                if there is not None:
                    _report_running(there, requested, as_json)
                    if not as_json:
                        _warn_of_other(there)
                    return
                kafka = running.enter_context(_started(port, data, chosen))
                entry = registry.add(name, kafka, requested)
                if not foreground:
                    kafka.detach()
            if foreground:
                _run_in_foreground(kafka, entry, registry, as_json)
            else:
                _show(entry, f"Kafka is running at {entry.bootstrap_servers} (log: {entry.log_path})", as_json)
                if not as_json and not _warn_of_other(entry) and choose_broker(registry.running()) == entry:
                    print_line("Other commands use it unless --bootstrap-server is given.")
    except KafkaReplicaError as error:
        _fail(error, as_json)


@broker.command()
@_NAME
@_JSON
def stop(name: str, as_json: bool) -> None:
    """Stop a broker; its data is deleted unless it was started with --data.

    The exit status is 0 if it was stopped, 1 if there was none to stop.
    """
    try:
        registry = Registry()
        with registry.changing(name):
            there = registry.find(name)
            if there is None:
                _fail(EmbeddedKafkaError(f"no broker named {name!r} is running"), as_json)
            registry.stop(there)
    except KafkaReplicaError as error:
        _fail(error, as_json)
    _show(there, f"Kafka at {there.bootstrap_servers} was stopped", as_json, state="stopped")


@broker.command()
@_NAME
@_JSON
def status(name: str, as_json: bool) -> None:
    """Report whether a broker runs, and where.

    The exit status is 0 if it runs and answers, 3 if it is stopped, 4 if it does not answer.
    """
    try:
        there = Registry().find(name)
    except KafkaReplicaError as error:
        _fail(error, as_json)
    if there is None:
        if as_json:
            print_json_line({"name": name, "state": "stopped"})
        else:
            print_line(f"no broker named {name!r} is running")
        sys.exit(3)
    if not there.answers():
        text = f"Kafka at {there.bootstrap_servers} is running but does not answer (log: {there.log_path})"
        _show(there, text, as_json, state="silent")
        sys.exit(4)
    _show(there, f"Kafka is running at {there.bootstrap_servers}, process {there.pid} (log: {there.log_path})", as_json)


def _started(port: int | None, data: str | None, settings: dict[str, str]) -> LocalKafka:
    """Start a broker on the given port; without one, on 9092 if that port is free, or else on another free port."""

    def kafka(port: int | None) -> LocalKafka:
        return LocalKafka(port=port, data_dir=data, settings=settings, progress=_progress)

    if port is None and ports.is_free(_KAFKAS_PORT):
        try:
            return kafka(_KAFKAS_PORT).start()
        except EmbeddedKafkaError:
            if ports.is_free(_KAFKAS_PORT):  # so the port was not the reason of the failure
                raise
    return kafka(port).start()


def _run_in_foreground(kafka: LocalKafka, entry: Entry, registry: Registry, as_json: bool) -> None:
    """Keep the broker running until a signal arrives, or until the broker ends."""

    def end(number: int, _: FrameType | None) -> NoReturn:
        raise KeyboardInterrupt(number)

    before = signal.signal(signal.SIGTERM, end)
    try:
        _show(entry, f"Kafka is running at {entry.bootstrap_servers}; press Ctrl-C to stop it", as_json)
        with contextlib.suppress(KeyboardInterrupt):
            while kafka.is_running():
                time.sleep(0.2)
            raise EmbeddedKafkaError(f"the broker ended unexpectedly; the end of its log:\n{kafka.log_tail()}")
    except EmbeddedKafkaError:
        if entry.is_alive():
            raise
        # Not an error if its supervisor has ended, too: "broker stop" was called in another process.
    finally:
        signal.signal(signal.SIGTERM, before)
        kafka.stop()
        registry.remove(entry.name)


def _report_running(there: Entry, requested: dict[str, Any], as_json: bool) -> None:
    different = [key for key, value in requested.items() if value and value != there.requested.get(key)]
    if different:
        raise EmbeddedKafkaError(
            f"a broker named {there.name!r} is already running at {there.bootstrap_servers}, started with another "
            f"{' and '.join(different)}; stop it first, or start this one with another --name"
        )
    _show(there, f"Kafka is already running at {there.bootstrap_servers} (log: {there.log_path})", as_json)


def _warn_of_other(entry: Entry) -> bool:
    """Report the broker that the environment names instead of a started one, as a user may write there by mistake."""
    named = os.environ.get(SERVERS_VARIABLE)
    if not named or named == entry.bootstrap_servers:
        return False
    print_line(
        f"Other commands use {named} instead, because {SERVERS_VARIABLE} is set; to use this broker, give "
        f"--bootstrap-server {entry.bootstrap_servers}, or: unset {SERVERS_VARIABLE}"
    )
    return True


def _settings(pairs: tuple[str, ...]) -> dict[str, str]:
    settings: dict[str, str] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key.strip():
            raise click.BadParameter(f"{pair!r} is not KEY=VALUE", param_hint="--set")
        settings[key.strip()] = value.strip()
    return settings


def _show(entry: Entry, text: str, as_json: bool, state: str = "running") -> None:
    if as_json:
        print_json_line({**entry.public_fields(), "state": state})
    else:
        print_line(text)


def _fail(error: KafkaReplicaError, as_json: bool) -> NoReturn:
    if as_json:
        print_json_line({"state": "error", "error": str(error)})
    else:
        log_message(f"kafka-replica: {error}", logging.ERROR)
    sys.exit(1)


def _progress(line: str) -> None:
    log_message(line)
