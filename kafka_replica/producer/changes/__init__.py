"""Changes to record: keys and their new content, its encoding, checks before recording, and fingerprints.

Of the producer, this package may import only ``transactions`` and ``errors``. Read ``changes`` first, then
``encoding``.
"""
