"""The demonstration of structures on a real Kafka broker, with commentary; ``make demo`` runs it."""
