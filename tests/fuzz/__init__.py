"""Hostile and damaged messages, made at random: only our own errors may come out, in bounded time and memory.

``python -m fuzz --minutes 5 --seed 1`` (``make fuzz``) feeds each reader with mutations of our own samples and with
messages grown from their vocabulary. What a reader does not survive is kept in ``build/fuzz``, made as small as
Hypothesis can make it, with the command that repeats it.

The parts: ``samples`` (what mutations start from), ``trees``, ``texts`` and ``books`` (how XML, JSON, EDI and workbooks
are mutated and grown), ``targets`` (what is fed, and what may happen), ``session`` (one reader in one process),
``__main__`` (all of them, with progress).
"""
