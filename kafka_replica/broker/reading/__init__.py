"""The two log readers: ``marker_reader`` speaks Kafka's protocol, ``consumer`` uses the confluent-kafka consumer.

This package may import the rest of ``broker`` except ``writing``, and ``transactions``. Read ``contract`` first.
"""
