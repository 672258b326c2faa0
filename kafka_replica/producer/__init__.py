"""Writing reference data: transactions of any keys and values, and structure files on top of them."""

from kafka_replica.producer.transactions import Committed, Transaction, TransactionalProducer

__all__ = ["Committed", "Transaction", "TransactionalProducer"]
