"""The settings of a table source, and its file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

from kafka_replica.broker.connection.property_names import check_names
from kafka_replica.common.property_files import flat, read_settings_file
from kafka_replica.common.secret_values import hide_password, hide_secrets
from kafka_replica.errors import ConfigurationError
from kafka_replica.producer.postgres.values import Numeric
from kafka_replica.producer.relay.failures import RETRIES
from kafka_replica.producer.settings.file_tables import make_settings, settings_tables
from kafka_replica.producer.settings.producer_settings import DEFAULT_PREFIX
from kafka_replica.producer.transactions.topic_names import topic_names


@dataclass(frozen=True)
class TableSourceSettings:
    """The settings of a table source.

    Raises:
        ConfigurationError: a setting is impossible.
    """

    database: str = field(repr=False)
    """A connection URI of PostgreSQL, such as ``postgresql://user:password@host:5432/database``."""
    table: str
    """The table, as SQL writes it: ``terminal_acquirer``, ``payments."Terminals"``."""
    topic: str
    """The topic to which the rows are copied."""
    key_column: str
    """The column whose value is the key of the record; it needs a unique index."""
    kafka: Mapping[str, Any] = field(repr=False)
    """librdkafka's properties, unchanged; ``bootstrap.servers`` at least."""
    id: str = ""
    """The name of the source, which must be unique on the cluster; ``source-`` and the topic by default. Kafka's
    transactional id is ``prefix``, a hyphen and this name.
    """
    timestamp_column: str = ""
    """Records of one transaction are ordered by this column, and then by ``incrementing_column``."""
    incrementing_column: str = ""
    """A column of numbers that grow; see ``timestamp_column``."""
    active_column: str = ""
    """A boolean column: a row in which it is false becomes a tombstone."""
    columns: tuple[str, ...] = ()
    """The columns to copy; all if empty."""
    camel_case: bool = False
    """Name fields ``terminalId`` instead of ``terminal_id``."""
    numeric: Numeric = "string"
    """The JSON of the type ``numeric``: ``string``, which every reader reads exactly, or ``number``."""
    prefix: str = DEFAULT_PREFIX
    """The beginning of the transactional id."""
    progress_topic: str = ""
    """The topic of the positions; the topic's name with ``.progress`` by default, created if it is missing."""
    progress_replication_factor: int | None = None
    """The replication factor of that topic if it is created; None means 3, or the number of brokers if smaller."""
    poll_s: float = 1.0
    """The interval between two snapshots of the table, in seconds."""
    compare_interval_s: float = 0.0
    """The interval between comparisons of table and topic, which find deleted rows, in seconds; 0 for none."""
    allow_empty: bool = False
    """Allow a comparison with an empty table to delete all keys of the topic."""
    timeout_s: float = 30.0
    """The timeout of one step in Kafka, in seconds."""
    retries: int = RETRIES
    """The number of retries of a failure of Kafka that is not an outage; outages are waited for without limit."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "database", hide_password(self.database))
        object.__setattr__(self, "kafka", hide_secrets(self.kafka))
        check_names(self.kafka, "the source's kafka properties")
        if len(topic_names(self.topic)) != 1:
            raise ConfigurationError(f"a source needs exactly one topic, not {self.topic!r}")
        if "/" in self.id:
            raise ConfigurationError(f"a source's id must be a name without slashes, not {self.id!r}")
        if self.numeric not in get_args(Numeric):
            raise ConfigurationError(f"numeric is one of {', '.join(get_args(Numeric))}, not {self.numeric!r}")
        if not self.poll_s > 0 or not self.compare_interval_s >= 0:
            raise ConfigurationError("poll_s must be more than 0 seconds, and compare_interval_s 0 or more")

    @property
    def source_id(self) -> str:
        """The name of the source."""
        return self.id or f"source-{self.topic}"

    @property
    def position_topic(self) -> str:
        """The topic of the positions."""
        return self.progress_topic or f"{self.topic}.progress"

    @property
    def transactional_id(self) -> str:
        """Kafka's transactional id of all instances."""
        return f"{self.prefix}-{self.source_id}"


def read_source_settings(path: Path) -> TableSourceSettings:
    """Read the settings from a TOML file with the tables ``[source]`` and ``[kafka]``.

    Raises:
        ConfigurationError: the file cannot be read, or a setting is unknown, missing or impossible.
    """
    file = read_settings_file(path)
    if not file.is_toml:
        raise ConfigurationError(f"{path} is not TOML; begin with a line [source]")
    tables = settings_tables(file.values, ("source", "kafka"), path)
    kafka = flat(tables["kafka"])
    check_names(kafka, f"{path}, [kafka]")
    return make_settings(TableSourceSettings, {**tables["source"], "kafka": kafka}, f"{path}, [source]")
