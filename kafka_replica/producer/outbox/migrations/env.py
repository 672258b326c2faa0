"""How Alembic runs the migrations: on the connection given, in its transaction. Alembic executes this file."""

from __future__ import annotations

from alembic import context

context.configure(
    connection=context.config.attributes["connection"],
    version_table=context.config.attributes["version_table"],
    transactional_ddl=True,
)
context.run_migrations()
