"""Where a version may end: state machines without I/O, threads or clock, one for each kind of evidence.

May import ``records`` and ``errors``. Read ``detector`` first, then ``markers`` and ``quiescence``.
"""

from kafka_replica.transactions.batches import Batch, Content, Kind, Parsed, Reading
from kafka_replica.transactions.detector import BoundaryDetector, CommittedRecords, ConsistentPoint, Decision, Ends
from kafka_replica.transactions.markers import MarkerDetector
from kafka_replica.transactions.quiescence import QuiescenceDetector

__all__ = [
    "Batch",
    "BoundaryDetector",
    "CommittedRecords",
    "ConsistentPoint",
    "Content",
    "Decision",
    "Ends",
    "Kind",
    "MarkerDetector",
    "Parsed",
    "QuiescenceDetector",
    "Reading",
]
