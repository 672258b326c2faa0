"""Kafka's protocol as far as a reader of raw batches needs it: connections, metadata, ends, fetches."""
