"""The definition of a table, read from PostgreSQL's catalog."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from psycopg import Connection, sql

from kafka_replica.common.wording import did_you_mean
from kafka_replica.errors import ConfigurationError
from kafka_replica.producer.postgres.rows import Column, RowMapping
from kafka_replica.producer.postgres.settings import TableSourceSettings
from kafka_replica.producer.postgres.values import BOOLEAN, converter

_TABLE = """
    SELECT c.oid, c.relkind::text, n.nspname, c.relname
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = to_regclass(%s)
"""
_PARTS = """
    WITH RECURSIVE part (oid) AS (
        SELECT %s::oid
        UNION
        SELECT inhrelid FROM part JOIN pg_inherits ON inhparent = part.oid
    )
    SELECT oid, relkind::text, oid::regclass::text AS name FROM part JOIN pg_class USING (oid)
    WHERE relpersistence <> 't' ORDER BY oid
"""
_COLUMNS = """
    SELECT attname, attnum, atttypid, attnotnull FROM pg_attribute
    WHERE attrelid = %s AND attnum > 0 AND NOT attisdropped ORDER BY attnum
"""
_TYPES = """
    WITH RECURSIVE used (oid) AS (
        SELECT atttypid FROM pg_attribute WHERE attrelid = %s AND attnum > 0 AND NOT attisdropped
        UNION
        SELECT other.oid FROM used JOIN pg_type t USING (oid), LATERAL (VALUES (t.typbasetype), (t.typelem)) other (oid)
        WHERE other.oid <> 0
    )
    SELECT oid, typbasetype,
        CASE WHEN typoutput = 'pg_catalog.array_out'::regproc AND typdelim = ',' THEN typelem ELSE 0 END
    FROM used JOIN pg_type USING (oid)
"""
_UNIQUE = """
    SELECT pg_get_expr(indpred, indrelid), quote_ident(%s) FROM pg_index
    WHERE indrelid = %s AND indkey[0] = %s AND indnkeyatts = 1 AND indisunique AND indisvalid
"""


class _Attribute(NamedTuple):
    """A column in the catalog."""

    number: int
    type_id: int
    is_not_null: bool


class FoundTable(NamedTuple):
    """A table in the catalog."""

    oid: int
    name: sql.Identifier
    """The table's name, qualified by its schema."""


class TableDefinition(NamedTuple):
    """The parts of a table's definition that determine how it is copied."""

    table: FoundTable
    columns: tuple[str, ...]
    mapping: RowMapping
    keys_may_repeat: bool
    """True if only some rows have unique keys, because the unique index is partial, for example on active rows."""


def find_table(connection: Connection[Any], table: str) -> FoundTable:
    """Find a table by its name in SQL.

    Raises:
        ConfigurationError: the table does not exist, or is a view.
    """
    row = connection.execute(_TABLE, [table]).fetchone()
    if row is None:
        raise ConfigurationError(f"the database has no table {table}; name it with its schema, as in SQL")
    oid, kind, schema, name = row
    if kind not in {"r", "p"}:
        raise ConfigurationError(f"{table} is not a table; row versions can be read from tables only, not from views")
    return FoundTable(oid, sql.Identifier(schema, name))


def read_definition(
    connection: Connection[Any], found_table: FoundTable, settings: TableSourceSettings
) -> TableDefinition:
    """Return the definition of the table.

    Raises:
        ConfigurationError: a column does not exist, or the table cannot be used as configured.
    """
    table, oid = settings.table, found_table.oid
    parts = _parts(connection, oid, table)
    attributes = {name: _Attribute(*rest) for name, *rest in connection.execute(_COLUMNS, [oid])}
    types = {type_id: (base, element) for type_id, base, element in connection.execute(_TYPES, [oid])}

    def base_of(type_id: int) -> int:
        while types[type_id][0]:
            type_id = types[type_id][0]
        return type_id

    for setting in ("key_column", "timestamp_column", "incrementing_column", "active_column"):
        _check(attributes, getattr(settings, setting), setting, table)
    names = settings.columns or tuple(attributes)
    for name in names:
        _check(attributes, name, "columns", table)
    if settings.key_column not in names:
        raise ConfigurationError(f"table {table}: the key {settings.key_column} has to be one of the columns to copy")
    if settings.active_column and base_of(attributes[settings.active_column].type_id) != BOOLEAN:
        raise ConfigurationError(f"table {table}: the active_column {settings.active_column} has to be a boolean")
    columns = []
    for name in names:
        base = base_of(attributes[name].type_id)
        element = types[base][1]
        columns.append(Column(name, *converter(base, settings.numeric, base_of(element) if element else None)))
    origin = [parts, settings.active_column, settings.topic]
    mapping = RowMapping(table, columns, settings.key_column, camel_case_names=settings.camel_case, origin=origin)
    is_unique = _is_unique(connection, oid, attributes, settings)
    return TableDefinition(found_table, tuple(names), mapping, keys_may_repeat=not is_unique)


def _check(columns: Mapping[str, Any], name: str, setting: str, table: str) -> None:
    if name and name not in columns:
        raise ConfigurationError(f"table {table} has no column {name} ({setting}){did_you_mean(name, columns)}")


def _parts(connection: Connection[Any], oid: int, table: str) -> list[int]:
    """Return the oids of the table and of all tables below it, whose rows it shows: partitions and inheriting tables.

    Raises:
        ConfigurationError: one of them is a foreign table, whose rows have no transaction ids of this database.
    """
    found = connection.execute(_PARTS, [oid]).fetchall()
    for _, kind, name in found:
        if kind == "f":
            raise ConfigurationError(
                f"table {table} shows rows of the foreign table {name}, whose row versions cannot be read; "
                "copy a table without foreign tables below it"
            )
    return [part for part, _, _ in found]


def _is_unique(
    connection: Connection[Any], oid: int, attributes: Mapping[str, _Attribute], settings: TableSourceSettings
) -> bool:
    """Return whether an index ensures that all keys are unique; False if only the keys of active rows are unique.

    Raises:
        ConfigurationError: nothing ensures that active rows have unique keys.
    """
    active, key = settings.active_column, settings.key_column
    is_never_null = bool(active) and attributes[active].is_not_null
    indexes = connection.execute(_UNIQUE, [active, oid, attributes[key].number]).fetchall()
    if any(condition is None for condition, _ in indexes):
        return True
    if active and any(_covers_active(condition, name, is_never_null) for condition, name in indexes):
        return False
    where = f" WHERE {active}{'' if is_never_null else ' IS NOT FALSE'}" if active else ""
    if active and any(_covers_active(condition, name, is_never_null=True) for condition, name in indexes):
        where += f", or: ALTER TABLE {settings.table} ALTER {active} SET NOT NULL"
    raise ConfigurationError(
        f"table {settings.table}: two rows may have the same {key}, and a topic has one record for "
        f"a key; CREATE UNIQUE INDEX ON {settings.table} ({key}){where}"
    )


def _covers_active(condition: str, name: str, is_never_null: bool) -> bool:
    """Return whether the condition of a partial index includes all active rows.

    Args:
        condition: the condition, as PostgreSQL writes it.
        name: the active column, as PostgreSQL writes it.
        is_never_null: whether the column is NOT NULL; a row in which it is NULL is active.
    """
    if condition in {f"({name} IS NOT FALSE)", f"COALESCE({name}, true)", f"({name} IS DISTINCT FROM false)"}:
        return True
    return is_never_null and condition in {
        name, f"({name} IS TRUE)", f"({name} = true)", f"({name} <> false)",
    }  # fmt: skip
