"""A producer's configuration in Java properties: ``producer.topic=FOO`` means ``topic = "FOO"`` in ``[producer]``."""

from __future__ import annotations

from dataclasses import Field, fields
from typing import Any, Final

from kafka_replica.common.property_files import SettingsFile
from kafka_replica.errors import ConfigurationError
from kafka_replica.producer.notices.mail import MailSettings
from kafka_replica.producer.settings.producer_settings import ProducerSettings
from kafka_replica.producer.sources.folder import FolderSettings
from kafka_replica.producer.sources.rest import ServiceSettings

_KINDS: Final[dict[str, tuple[type, ...]]] = {
    "producer": (ProducerSettings,),
    "kafka": (),
    "source": (ServiceSettings, FolderSettings),
    "mail": (MailSettings,),
}
_FLAGS: Final = {"true": True, "false": False}


def tables_of(file: SettingsFile) -> dict[str, dict[str, Any]]:
    """Return the tables that a properties file defines, with values of the settings' types.

    Raises:
        ConfigurationError: a name does not begin with the name of a table.
    """
    tables: dict[str, dict[str, Any]] = {}
    for name, text in file.values.items():
        table, dot, setting = name.partition(".")
        if not dot or table not in _KINDS:
            raise ConfigurationError(
                f"{file.where(name)}: {name!r} should begin with one of "
                f"{', '.join(f'{name}.' for name in _KINDS)} as in producer.topic=FOO"
            )
        settings = {field.name: field for kind in _KINDS[table] for field in fields(kind)}
        tables.setdefault(table, {})[setting] = _convert(text, settings[setting]) if setting in settings else text
    return tables


def _convert(text: str, field: Field[Any]) -> Any:
    """Return a value of the type that TOML would provide; invalid text is returned unchanged, and rejected later."""
    if str(field.type).startswith("tuple"):
        return [part.strip() for part in text.split(",")]
    if isinstance(field.default, bool):
        return _FLAGS.get(text.lower(), text)
    if isinstance(field.default, (int, float)) or str(field.type).startswith("int"):
        try:
            return (float if isinstance(field.default, float) else int)(text)
        except ValueError:
            return text
    return text
