"""Writing reference data: transactions of any keys and values, structure files on top of them; dead letters."""

from kafka_replica.producer.dead_letters import DeadLetterTopic
from kafka_replica.producer.transactions import Committed, Transaction, TransactionalProducer

__all__ = ["Committed", "DeadLetterTopic", "Transaction", "TransactionalProducer"]
