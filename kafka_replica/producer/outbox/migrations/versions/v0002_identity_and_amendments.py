"""The identity of the database, amendments of transactions, and the progress of clean-up.

A database that already has a producer with the former default id, ``structures``, keeps it as its default.
"""

from __future__ import annotations

import uuid

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision: str | None = "0001"
branch_labels: str | None = None
depends_on: str | None = None

_ID = sa.String(255)
_FORMER_DEFAULT = "structures"


def upgrade() -> None:
    """Add the tables and the column, and give the database its identity."""
    op.add_column("kafka_producer_state", sa.Column("cleaned_tx_id", sa.BigInteger, nullable=False, server_default="0"))
    _amendments()
    _identity()


def _amendments() -> None:
    op.create_table(
        "kafka_producer_tx_amendment",
        sa.Column("producer_id", _ID, primary_key=True, autoincrement=False),
        sa.Column("tx_id", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("request", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("action", sa.String(16), nullable=False),
        sa.Column("requested_ms", sa.BigInteger, nullable=False),
        sa.Column("applied_ms", sa.BigInteger),
        sa.Column("reason", sa.Text),
        sa.Column("record_key", sa.LargeBinary),
        sa.Column("record_value", sa.LargeBinary),
        sa.Column("content_type", sa.Text),
        sa.Column("content_hash", sa.LargeBinary(32)),
    )


def _identity() -> None:
    identity = op.create_table(
        "kafka_producer_database",
        sa.Column("row_number", sa.SmallInteger, primary_key=True, autoincrement=False),
        sa.Column("database_id", sa.String(32), nullable=False),
        sa.Column("default_producer_id", _ID, nullable=False),
        sa.Column("location", sa.Text),
    )
    state = sa.table("kafka_producer_state", sa.column("producer_id", _ID))
    known = op.get_bind().execute(sa.select(state.c.producer_id).where(state.c.producer_id == _FORMER_DEFAULT)).first()
    database_id = uuid.uuid4().hex
    default = _FORMER_DEFAULT if known is not None else f"{_FORMER_DEFAULT}-{database_id[:8]}"
    row = {"row_number": 1, "database_id": database_id, "default_producer_id": default, "location": None}
    op.bulk_insert(identity, [row])
