"""Constraints of SDMX-JSON: structs, reading and writing."""
