"""The library that reads key stores."""

from kafka_replica.common.cryptography_modules import cryptography_module

assert cryptography_module("hazmat.primitives.serialization.pkcs12").load_pkcs12
