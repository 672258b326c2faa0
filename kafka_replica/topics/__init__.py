"""Naming conventions of topics and consumer groups; declared topics, which are created, checked, or found obsolete.

This package may import ``broker``, and does not depend on the replica. Read ``naming`` first, then ``declarations``.
"""

from __future__ import annotations

from kafka_replica.topics.declarations import TopicDeclaration, TopicDeclarations, read_declarations
from kafka_replica.topics.errors import TopicNameError
from kafka_replica.topics.management import TopicReport, TopicState, check_topics, create_topics, obsolete_topics
from kafka_replica.topics.modules import ConsumerGroup, consumer_group, parse_consumer_group, producer_of
from kafka_replica.topics.naming import ANY, FOLIO, FOLIO_DATA_IMPORT, TopicConvention, TopicName, parse_topic
from kafka_replica.topics.patterns import TopicPattern

__all__ = [
    "ANY",
    "FOLIO",
    "FOLIO_DATA_IMPORT",
    "ConsumerGroup",
    "TopicConvention",
    "TopicDeclaration",
    "TopicDeclarations",
    "TopicName",
    "TopicNameError",
    "TopicPattern",
    "TopicReport",
    "TopicState",
    "check_topics",
    "consumer_group",
    "create_topics",
    "obsolete_topics",
    "parse_consumer_group",
    "parse_topic",
    "producer_of",
    "read_declarations",
]
