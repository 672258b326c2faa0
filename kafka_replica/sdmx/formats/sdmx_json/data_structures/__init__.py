"""Data structures and dataflows of SDMX-JSON: structs, reading and writing."""
