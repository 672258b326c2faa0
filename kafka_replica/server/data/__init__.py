"""Validation and mapping of uploaded data, without an HTTP library; the engine is polars, and needs its extra."""
