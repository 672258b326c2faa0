"""Errors of the operating system that may be gone when the same command is repeated, such as a full disk."""

from __future__ import annotations

import errno
from typing import Final

TRANSIENT: Final = frozenset({
    errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOSPC, errno.EDQUOT, errno.ESTALE
})  # fmt: skip
