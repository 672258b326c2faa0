"""Find the broker that ``broker start`` has started; commands use it if no other broker is given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import click

from kafka_replica.cli.log_output import log_message
from kafka_replica.errors import ConfigurationError, MissingExtraError

if TYPE_CHECKING:
    from kafka_replica.embedded.registry import Entry

_KEY: Final = "kafka_replica.remembered_servers"
DEFAULT_NAME: Final = "default"
"""The name of a broker that was started without a name."""


def started_broker_address() -> str | None:
    """Return the address of the running broker that ``broker start`` has started; None if no broker is running.

    If several are running, the broker with the default name is used. The choice is reported on stderr, once per
    command.

    Raises:
        ConfigurationError: several brokers are running, and none of them has the default name.
    """
    context = click.get_current_context(silent=True)
    if context is None:
        return _look_up()
    if _KEY not in context.meta:
        context.meta[_KEY] = _look_up()
    found: str | None = context.meta[_KEY]
    return found


def _look_up() -> str | None:
    from kafka_replica.embedded.registry import Registry  # noqa: PLC0415 - with Kafka's address given it is not needed

    try:
        running = Registry().running()
    except MissingExtraError:  # without the extra, no broker can have been started
        return None
    if not running:
        return None
    chosen = choose_broker(running)
    if chosen is None:
        names = ", ".join(f"{one.name} at {one.bootstrap_servers}" for one in running)
        raise ConfigurationError(f"several brokers run on this machine ({names}): name one with --bootstrap-server")
    log_message(f"kafka-replica: using the broker {chosen.name!r} at {chosen.bootstrap_servers}")
    return chosen.bootstrap_servers


def choose_broker(running: Sequence[Entry]) -> Entry | None:
    """Return the broker to use if none is given: the only running broker, or that with the default name, or None."""
    if len(running) == 1:
        return running[0]
    return next((one for one in running if one.name == DEFAULT_NAME), None)
