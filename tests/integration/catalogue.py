"""What a schema consists of, as comparable lines, so that two schemas can be told apart by their catalogues.

The order of columns is left out: one that was dropped and added again is the last."""

from typing import Any

from psycopg import Connection

COLUMNS = """
    SELECT table_name, column_name, data_type, is_nullable, COALESCE(column_default, '')
    FROM information_schema.columns WHERE table_schema = 'public'
"""
INDEXES = "SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'"
CONSTRAINTS = """
    SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid)
    FROM pg_constraint WHERE connamespace = 'public'::regnamespace
"""
POLICIES = """
    SELECT tablename, policyname, permissive, roles::text, cmd, COALESCE(qual, ''), COALESCE(with_check, '')
    FROM pg_policies WHERE schemaname = 'public'
"""
SECURITY = """
    SELECT relname, relrowsecurity, relforcerowsecurity, relowner::regrole::text, COALESCE(reloptions::text, ''),
           COALESCE(relacl::text, '')
    FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'v', 'S')
"""
COLUMN_GRANTS = """
    SELECT attrelid::regclass::text, attname, attacl::text
    FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
    WHERE relnamespace = 'public'::regnamespace AND attacl IS NOT NULL
"""
FUNCTIONS = "SELECT proname, pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'public'::regnamespace"
SCHEMA = "SELECT nspname, nspacl::text FROM pg_namespace WHERE nspname = 'public'"

EVERYTHING = (COLUMNS, INDEXES, CONSTRAINTS, POLICIES, SECURITY, COLUMN_GRANTS, FUNCTIONS, SCHEMA)


def catalogue(conn: Connection[Any]) -> list[str]:
    """Everything of ours in the schema, without what the migration tool keeps for itself."""
    lines = [str(row) for query in EVERYTHING for row in conn.execute(query).fetchall()]  # type: ignore[call-overload]
    return sorted(line for line in lines if "yoyo" not in line)
