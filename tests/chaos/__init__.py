"""A checker with a history: what a replica promises, checked while everything around it breaks.

``python -m chaos --minutes 10 --seed 1`` starts a real broker (or a cluster of three), writers and replicas in
processes of their own, and breaks them at random. Every writer keeps a history of what it committed, every
replica a record of each version it showed; afterwards the two are held against each other.

The parts: ``plan`` (what is written), ``writers``, ``replicas`` and ``streams`` (what is seen), ``crew``, ``cluster``,
``proxy`` and ``faults`` (what breaks), ``history``, ``expected`` and ``checker`` (what is right), ``report``.
``naive`` is a replica that breaks the promises on purpose, to show that the checker sees it.
"""
