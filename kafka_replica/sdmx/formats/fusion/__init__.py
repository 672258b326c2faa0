"""Fusion-JSON, the JSON of Fusion Metadata Registry: ``reader`` reads structure messages, ``writer`` writes them."""
