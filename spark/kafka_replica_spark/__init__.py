"""Spark views of a replica."""
