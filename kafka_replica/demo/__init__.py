"""The demonstration of a directory, with PostgreSQL, a source and a replica; ``make demo-directory`` runs it.

This package may import everything except the commands. Read ``directory_demo`` first. The demonstration of
structures is in ``kafka_replica_spark.demo``; both use ``output``.
"""
