"""Copy a PostgreSQL table to a compacted topic, without Kafka Connect. Needs the extra ``postgres``.

``TableSource`` copies a table. Read ``position`` first, which explains why no row version is skipped or copied twice,
then ``copying``. No other package uses psycopg directly.
"""

from __future__ import annotations

from kafka_replica.errors import MissingExtraError

try:
    import msgspec  # noqa: F401
    import psycopg  # noqa: F401
except ImportError as error:
    raise MissingExtraError("copying a PostgreSQL table", "postgres") from error

from kafka_replica.producer.postgres.operations import claim, compare
from kafka_replica.producer.postgres.settings import TableSourceSettings, read_source_settings
from kafka_replica.producer.postgres.source import TableSource

__all__ = ["TableSource", "TableSourceSettings", "claim", "compare", "read_source_settings"]
