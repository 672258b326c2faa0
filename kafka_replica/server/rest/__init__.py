"""The SDMX REST API for structures; the messages come first."""
