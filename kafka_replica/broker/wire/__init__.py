"""The part of Kafka's protocol that a reader of raw batches needs: connections, metadata, end offsets, fetches."""
