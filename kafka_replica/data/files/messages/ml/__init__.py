"""SDMX-ML data messages as rows: 2.0, 2.1, 3.0 and 3.1, as a stream and without a library.

Start with :mod:`~kafka_replica.data.files.messages.ml.message`.
"""

from __future__ import annotations

from kafka_replica.data.files.messages.ml.message import MlMessage

__all__ = ["MlMessage"]
