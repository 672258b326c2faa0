"""A live, exact copy of a compacted Kafka topic inside a process."""
