"""The contents of a directory in one version, which follow from the newest record of each key.

This package may import ``indexes`` and ``records``. Read ``contents`` first, then ``claims`` and ``cutoffs``.
"""
