"""Connections to brokers: librdkafka's properties, Java's names for them, TLS and SASL.

From ``broker``, this package may import only ``errors``. Read ``settings`` first.
"""
