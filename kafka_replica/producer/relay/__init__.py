"""The relay sends recorded transactions to Kafka, exactly once and in order. ``rules`` decides; the rest does I/O."""
