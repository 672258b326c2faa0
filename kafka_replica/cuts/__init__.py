"""Where versions may end: the rules, as state machines without I/O, one a kind of evidence."""

from kafka_replica.cuts.evidence import Batch, Content, Kind, Parsed, Reading
from kafka_replica.cuts.markers import Markers
from kafka_replica.cuts.quiet import QuietPoints
from kafka_replica.cuts.rule import Ends, Point, Rule, Settle, Step

__all__ = [
    "Batch",
    "Content",
    "Ends",
    "Kind",
    "Markers",
    "Parsed",
    "Point",
    "QuietPoints",
    "Reading",
    "Rule",
    "Settle",
    "Step",
]
