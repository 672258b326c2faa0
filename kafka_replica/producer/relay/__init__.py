"""The relay sends recorded transactions to Kafka, exactly once and in order. ``rules`` decides, other modules do I/O."""
