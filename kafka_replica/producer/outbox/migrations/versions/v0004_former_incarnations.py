"""The earlier incarnations of a producer, whose progress records show what has arrived before a new one began."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision: str | None = "0003"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    """Add the column."""
    op.add_column("kafka_producer_state", sa.Column("former_incarnations", sa.Text))
