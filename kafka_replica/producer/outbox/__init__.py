"""The outbox in the user's own database; no other package uses SQLAlchemy and Alembic. It needs the extra ``producer``.

::

    engine = open_database("sqlite:///registry.db")
    outbox = Outbox("structures")
    with engine.begin() as connection:
        connection.execute(...)  # the user's own data
        outbox.record(connection, [Put(urn, message, media_type), Delete(other_urn)])
"""

from __future__ import annotations

from kafka_replica.errors import MissingExtraError

try:
    import alembic  # noqa: F401
    import sqlalchemy  # noqa: F401
    import tenacity  # noqa: F401
except ImportError as error:
    raise MissingExtraError("the outbox", "producer") from error

from kafka_replica.producer.outbox.database import open_database
from kafka_replica.producer.outbox.identity import default_producer_id
from kafka_replica.producer.outbox.migrate import migrate
from kafka_replica.producer.outbox.modes import Mode
from kafka_replica.producer.outbox.outbox import Outbox
from kafka_replica.producer.outbox.tables import Status, TransactionKind

__all__ = ["Mode", "Outbox", "Status", "TransactionKind", "default_producer_id", "migrate", "open_database"]
