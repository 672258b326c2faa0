"""As whom and how we connect to read the log's raw batches: librdkafka's properties, through aiokafka.

The user gives librdkafka's names as they are. What decides where and as whom we connect is translated; what
cannot be is refused with the reason. What has no meaning here (``fetch.*``, ``group.*``, logging, statistics,
socket buffers, topic-level properties) is left aside.
"""

from kafka_replica.broker.connection.security.connecting import open_connection
from kafka_replica.broker.connection.security.errors import connection_failed
from kafka_replica.broker.connection.security.settings import ConnectionSettings, connection_settings

__all__ = ["ConnectionSettings", "connection_failed", "connection_settings", "open_connection"]
