"""The form of settings that may be shown in the database."""

from __future__ import annotations

from collections.abc import Mapping

from kafka_replica.common.secret_values import Secret, hide_secrets

_OF_THE_CONNECTION = ("bootstrap.servers", "metadata.broker.list", "security.", "sasl.", "ssl.")


def displayable_settings(settings: Mapping[str, object]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the producer's and the connection's settings as texts, with masked secrets and without callables."""
    texts = {
        name: value.shown if isinstance(value, Secret) else str(value)
        for name, value in hide_secrets(settings).items()
        if not callable(value)
    }
    of_connection = {name: value for name, value in texts.items() if name.startswith(_OF_THE_CONNECTION)}
    return {name: value for name, value in texts.items() if name not in of_connection}, of_connection
