"""The migrations, one module per version of the tables."""
