"""State machines that determine where a version may end, one for each way to detect transaction boundaries.

They use no I/O, threads or clock. This package may import ``records`` and ``errors``. Read ``contract`` first, then
``marker_detector`` and ``quiescence_detector``.
"""

from kafka_replica.transactions.batches import Batch, Content, Kind, ParsedContent, Reading
from kafka_replica.transactions.contract import BoundaryDetector, CommittedRecords, ConsistentPoint, Decision, Ends
from kafka_replica.transactions.marker_detector import MarkerDetector
from kafka_replica.transactions.quiescence_detector import QuiescenceDetector

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
    "ParsedContent",
    "QuiescenceDetector",
    "Reading",
]
