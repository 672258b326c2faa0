"""The compression of files in zip archives, of which only some can be limited. Source: APPNOTE.TXT 6.3.10, 4.4.5."""

from __future__ import annotations

import zipfile
from typing import Final

ADVICE: Final = "it is compressed in another way than usual (Deflate); compress it again"


def is_usual(entry: zipfile.ZipInfo) -> bool:
    """Return whether a file is stored or compressed with Deflate.

    ``zipfile`` decompresses other kinds (bzip2, LZMA) without a limit, however few bytes are read.
    """
    return entry.compress_type in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
