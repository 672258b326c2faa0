"""Chaos for the reference producer: ``python -m chaos --producer``.

Recorders put transactions into a database, with their own data; two or three instances of one producer fight for one
configuration; a replica looks on; and everything is killed or frozen at random. Afterwards the versions of the replica
and the log of Kafka are held against the database: none missing, none twice, none out of order.

The parts: ``recorder`` and ``instance`` (what runs), ``store`` (PostgreSQL or SQLite), ``operator`` (who resumes what
suspended itself), ``watch`` (what was seen), ``expected`` and ``checker`` (what is right), ``wrong`` (producers that
break a rule on purpose, to show that the checker sees it), ``run`` and ``report``.
"""
