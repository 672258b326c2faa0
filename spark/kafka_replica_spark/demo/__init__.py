"""The demonstration: the main job on a real Kafka broker, shown to a person. ``make demo`` runs it."""
