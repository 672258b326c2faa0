"""All access to brokers; no other package imports Kafka's clients, except the client of schema registries.

This package may import ``transactions`` and its dependencies, but neither stores nor SDMX.

``connection`` holds properties and security, ``wire`` the protocol, ``reading`` the two log readers, ``writing`` the
transactional writer, ``admin`` queries about topics. Read ``reading.contract`` first.
"""
