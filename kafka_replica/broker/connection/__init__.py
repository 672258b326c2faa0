"""Connections to brokers: librdkafka's properties, Java's names for them, TLS and SASL.

May import ``broker.errors`` only. Read ``settings`` first.
"""
