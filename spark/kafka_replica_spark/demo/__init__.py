"""The demonstration of structures on a real Kafka broker, which explains each step; ``make demo`` runs it."""
