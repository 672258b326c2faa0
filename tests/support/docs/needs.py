"""Marks of tests that run a page's commands with a program that a bare machine does not have."""

from __future__ import annotations

import shutil

import pytest

needs_curl = pytest.mark.skipif(shutil.which("curl") is None, reason="NOT TESTED: curl is not installed")
