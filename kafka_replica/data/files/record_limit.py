"""The longest record of a CSV file that is read, with whichever engine."""

from typing import Final

LONGEST_RECORD_BYTES: Final = 64 << 20
"""More than this without the end of a record means that a quote is not closed."""
