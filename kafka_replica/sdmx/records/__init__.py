"""The key filter and the validator that a replica of structures applies to its records.

This package may import everything else in ``sdmx``, because a validator reads messages. Read ``validator`` first.
"""
