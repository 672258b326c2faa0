"""Addresses, identity and security of aiokafka's connections for raw batches, configured by librdkafka's properties.

The user gives librdkafka's names. Properties that determine the address and our identity are translated;
properties that cannot be translated are rejected with the reason. Properties without a meaning here (``fetch.*``,
``group.*``, logging, statistics, socket buffers, topic-level properties) are ignored.
"""

from kafka_replica.broker.connection.security.connecting import open_connection
from kafka_replica.broker.connection.security.errors import connection_failed
from kafka_replica.broker.connection.security.settings import ConnectionSettings, connection_settings

__all__ = ["ConnectionSettings", "connection_failed", "connection_settings", "open_connection"]
