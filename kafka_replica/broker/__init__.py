"""The only package that knows Kafka clients and Kafka's protocol; it knows nothing of stores and SDMX.

``connection`` holds properties and security, ``wire`` the protocol, ``reading`` the two log readers, ``writing`` the
transactional writer, ``admin`` questions about topics. Read ``reading.contract`` first.
"""
