"""Configuration files of a producer: its settings, its source and its mails, in TOML or Java properties.

This package may import everything else in ``producer`` except ``postgres``. Read ``configuration`` first.
"""
