"""Alembic migrations of the producer's tables."""
