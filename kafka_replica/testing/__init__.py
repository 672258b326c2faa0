"""What tests are written with.

Installing kafka_replica gives pytest two fixtures (kafka_replica.testing.pytest_plugin), with nothing to import:
``local_kafka``, a real broker for the session, and ``kafka_topic``, which makes fresh topics on it.
"""

from __future__ import annotations
