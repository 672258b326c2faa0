"""Connections to brokers: librdkafka's properties, Java's names for them, TLS and SASL.

This package may import only ``broker.errors``. Read ``settings`` first.
"""
