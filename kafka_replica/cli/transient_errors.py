"""The system's errors that the same command may not meet later, although a setting may avoid them."""

from __future__ import annotations

import errno
from typing import Final

TRANSIENT: Final = frozenset({
    errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOSPC, errno.EDQUOT, errno.ESTALE
})  # fmt: skip
