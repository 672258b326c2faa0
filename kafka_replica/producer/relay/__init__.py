"""The relay: recorded transactions to Kafka, exactly once and in order. Rules are in ``rules``, I/O around them."""
