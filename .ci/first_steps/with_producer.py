"""A change recorded in the user's own transaction."""

import tempfile

from kafka_replica.producer import Put
from kafka_replica.producer.outbox import Outbox, migrate, open_database

with tempfile.TemporaryDirectory() as folder:
    engine = open_database(f"sqlite:///{folder}/outbox.db")
    migrate(engine)
    with engine.begin() as connection:
        outbox = Outbox("structures")
        outbox.create(connection, topic="codes")
        assert outbox.record(connection, [Put("a", b"1")]) == [1]
    engine.dispose()
