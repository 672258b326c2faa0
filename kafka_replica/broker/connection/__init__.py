"""Connections to brokers: librdkafka's properties, Java's names for them, TLS and SASL.

May import only ``broker.errors``. Read ``settings`` first.
"""
