"""A producer's configuration file, in TOML or Java properties, with secrets from environment variables.

::

    [producer]
    topic = "FOO,BAR"
    database = "postgresql+psycopg://registry:${DB_PASSWORD}@localhost/registry"

    [kafka]
    "bootstrap.servers" = "localhost:9092"

    [source]
    folders = ["structures"]

    [mail]
    host = "smtp.example.org"
    to = ["admin@example.org"]

As Java properties, the same configuration has lines such as ``producer.topic=FOO,BAR`` and
``kafka.bootstrap.servers=localhost:9092``.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple, TypeAlias

from kafka_replica.broker.connection.property_names import check_names
from kafka_replica.common.property_files import flat, read_settings_file
from kafka_replica.producer.configuration_files.property_tables import tables_of
from kafka_replica.producer.notices.mail import MailSettings
from kafka_replica.producer.settings.file_tables import make_settings, settings_tables
from kafka_replica.producer.settings.producer_settings import ProducerSettings
from kafka_replica.producer.sources.folder import FolderSettings, FolderSource
from kafka_replica.producer.sources.rest import ServiceSettings, ServiceSource

SourceSettings: TypeAlias = FolderSettings | ServiceSettings
_TABLES = ("producer", "kafka", "source", "mail")


class Configuration(NamedTuple):
    """The contents of a configuration file."""

    producer: ProducerSettings
    mail: MailSettings | None
    source: SourceSettings | None = None
    """The folder or service to watch; None if content is recorded by other means."""


def read_configuration(path: Path) -> Configuration:
    """Read a configuration file.

    Raises:
        ConfigurationError: the file cannot be read, a setting is unknown or missing, or a variable is not set.
    """
    file = read_settings_file(path)
    content = file.values if file.is_toml else tables_of(file)
    tables = settings_tables(content, _TABLES, path)
    kafka = flat(tables["kafka"])
    check_names(kafka, f"{path}, [kafka]")
    settings = make_settings(ProducerSettings, {**tables["producer"], "kafka": kafka}, f"{path}, [producer]")
    mail, source = tables["mail"], tables["source"]
    kind: type[SourceSettings] = ServiceSettings if "url" in source else FolderSettings
    return Configuration(
        settings,
        make_settings(MailSettings, mail, f"{path}, [mail]") if mail else None,
        make_settings(kind, source, f"{path}, [source]") if source else None,
    )


def make_source(settings: SourceSettings, media_type: str) -> FolderSource | ServiceSource:
    """Create the configured source.

    Args:
        settings: the settings of a folder or a service.
        media_type: the published format, which is the first choice in requests to a service.

    Raises:
        ConfigurationError: a setting is impossible.
    """
    if isinstance(settings, FolderSettings):
        return FolderSource(settings)
    return ServiceSource(settings, media_type)
