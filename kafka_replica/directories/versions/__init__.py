"""Versions of a directory as its users see them: views, changes between versions, and the newest versions.

This package may import ``contents`` and the packages below it. Read ``view`` first.
"""
