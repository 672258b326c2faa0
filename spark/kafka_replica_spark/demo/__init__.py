"""The demonstration: the main job on a real Kafka broker, with commentary. ``make demo`` runs it."""
