"""The settings of a producer, and their creation from the tables of a file.

Of the producer, this package may import ``relay`` and what is below it. Read ``producer_settings`` first.
"""
