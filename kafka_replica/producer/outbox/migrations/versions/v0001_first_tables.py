"""The first tables.

They are defined here and not imported from ``tables``, because a migration must not change when that module does.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision: str | None = None
branch_labels: str | None = None
depends_on: str | None = None

_ID = sa.String(255)


def _key(name: str, kind: sa.types.TypeEngine[int] | sa.types.TypeEngine[str]) -> sa.Column[object]:
    return sa.Column(name, kind, primary_key=True, autoincrement=False)


def upgrade() -> None:
    """Create the tables."""
    _registry_tables()
    _content()
    _running()


def _registry_tables() -> None:
    op.create_table(
        "kafka_producer_config",
        _key("id", _ID),
        sa.Column("topic", sa.Text, nullable=False),
        sa.Column("format", sa.Text, nullable=False),
    )
    op.create_table(
        "kafka_producer_config_properties",
        _key("id", _ID),
        _key("line_number", sa.Integer()),
        sa.Column("property", sa.Text, nullable=False),
    )
    op.create_table(
        "kafka_connection_settings", _key("conn_key", _ID), sa.Column("conn_value", sa.Text, nullable=False)
    )
    op.create_table(
        "kafka_producer_tx",
        _key("tx_id", sa.BigInteger()),
        _key("producer_id", _ID),
        sa.Column("tx_status", sa.SmallInteger, nullable=False),
        sa.Column("tx_last_updated", sa.BigInteger, nullable=False),
        sa.Column("tx_size", sa.BigInteger, nullable=False),
        sa.Column("tx_messages", sa.Integer, nullable=False),
    )
    op.create_index("kafka_producer_tx_by_producer", "kafka_producer_tx", ["producer_id", "tx_id"])


def _content() -> None:
    op.create_table(
        "kafka_producer_tx_detail",
        _key("producer_id", _ID),
        _key("tx_id", sa.BigInteger()),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("recorded_ms", sa.BigInteger, nullable=False),
        sa.Column("error", sa.Text),
    )
    op.create_table(
        "kafka_producer_tx_change",
        _key("producer_id", _ID),
        _key("tx_id", sa.BigInteger()),
        _key("number", sa.Integer()),
        sa.Column("key_hash", sa.LargeBinary(32), nullable=False),
        sa.Column("record_key", sa.LargeBinary, nullable=False),
        sa.Column("record_value", sa.LargeBinary),
        sa.Column("content_type", sa.Text),
        sa.Column("content_hash", sa.LargeBinary(32)),
    )
    op.create_index("kafka_producer_tx_change_by_key", "kafka_producer_tx_change", ["producer_id", "key_hash", "tx_id"])


def _running() -> None:
    op.create_table(
        "kafka_producer_counter", _key("producer_id", _ID), sa.Column("last_tx_id", sa.BigInteger, nullable=False)
    )
    op.create_table(
        "kafka_producer_state",
        _key("producer_id", _ID),
        sa.Column("incarnation", sa.String(32), nullable=False),
        sa.Column("mode", sa.String(16), nullable=False),
        sa.Column("reason", sa.Text),
        sa.Column("transactional_id", _ID),
        sa.Column("sent_tx_id", sa.BigInteger, nullable=False),
        sa.Column("progress_offset", sa.BigInteger),
        sa.Column("not_carried", sa.BigInteger, nullable=False),
        sa.Column("request_count", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "kafka_producer_lease",
        _key("producer_id", _ID),
        sa.Column("owner", sa.Text),
        sa.Column("term", sa.BigInteger, nullable=False),
        sa.Column("beat", sa.BigInteger, nullable=False),
    )
