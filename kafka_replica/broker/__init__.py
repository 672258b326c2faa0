"""All code that uses Kafka clients and Kafka's protocol; this package knows neither stores nor SDMX.

``connection`` holds properties and security, ``wire`` the protocol, ``reading`` the two log readers, ``writing`` the
transactional writer, ``admin`` queries about topics. Read ``reading.contract`` first.
"""
