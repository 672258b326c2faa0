"""Everything that connects to brokers; only it imports Kafka's clients, except that of schema registries.

This package may import ``transactions`` and the packages below it; it depends on neither stores nor SDMX.

``connection`` holds properties and security, ``wire`` the protocol, ``reading`` the two log readers, ``writing`` the
transactional writer, ``admin`` queries about topics. Read ``reading.contract`` first.
"""
