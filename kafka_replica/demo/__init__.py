"""The demonstration of a directory: PostgreSQL, a source, a replica. ``make demo-directory`` runs it.

It may import everything but the commands. Read ``story`` first. The demonstration of structures is in
``kafka_replica_spark.demo``; both share ``stage``.
"""
