"""The maximum length of a record in a CSV file, for all engines."""

from typing import Final

LONGEST_RECORD_BYTES: Final = 64 << 20
"""The maximum number of bytes of a record; if a text without an end of a record is longer, a quote is not closed."""
