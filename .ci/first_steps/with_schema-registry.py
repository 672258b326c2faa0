"""The client of a schema registry, in the process."""

from confluent_kafka.schema_registry import SchemaRegistryClient

from kafka_replica.headers.pieces import CachedRegistryClient, RegistrySchemas

client = SchemaRegistryClient.new_client({"url": "mock://first-steps"})
assert CachedRegistryClient
assert RegistrySchemas
assert client.get_subjects() == []
