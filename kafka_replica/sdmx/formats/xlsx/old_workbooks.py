"""Recognize old workbooks (.xls) and encrypted ones, neither of which is a ZIP archive, as XLSX is.

Source: MS-CFB, 2.2 "Compound File Header"; MS-OFFCRYPTO, 1.3.1.
"""

from __future__ import annotations

from typing import Final

MAGIC: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""The first bytes of such a file."""
ADVICE: Final = "it is an old workbook (.xls), or protected by a password; save it as .xlsx without a password"
