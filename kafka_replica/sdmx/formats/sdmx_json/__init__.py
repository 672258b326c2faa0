"""SDMX-JSON 1.0, 2.0 and 2.1: ``reader`` reads structure messages, ``writer`` writes them."""
