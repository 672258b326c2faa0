"""Malformed and damaged messages, made at random: only our own errors may be raised, in bounded time and memory.

``python -m fuzz --minutes 5 --seed 1`` (``make fuzz``) feeds each reader with mutations of our own samples and with
messages generated from their vocabulary. An input that causes a failure is kept in ``build/fuzz``, reduced by
Hypothesis, with the command that repeats it.

The parts: ``samples`` (the starting points of mutations), ``trees``, ``texts`` and ``workbooks`` (mutation and
generation of XML, JSON, EDI and workbooks), ``targets`` (the readers and their allowed results), ``session`` (one
reader in one process), ``__main__`` (all of them, with progress).
"""
