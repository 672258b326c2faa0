"""The driver of PostgreSQL."""

from kafka_replica.producer.outbox import open_database

assert open_database("postgresql+psycopg://user@127.0.0.1:1/none").dialect.driver == "psycopg"
