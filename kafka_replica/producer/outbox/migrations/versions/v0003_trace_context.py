"""The trace context in which a transaction was recorded."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision: str | None = "0002"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    """Add the two columns."""
    for name in ("traceparent", "tracestate"):
        op.add_column("kafka_producer_tx_detail", sa.Column(name, sa.Text))
