"""Alembic's migrations of the producer's tables."""
