"""Structure files: all artefacts of files and folders, and the merging of schemes that several files hold.

This package may import ``reading`` and ``writing``. Read ``structure_files`` first.
"""
