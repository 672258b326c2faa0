"""Validation and mapping of uploaded data, without an HTTP library; the engine is polars, which needs its extra."""
