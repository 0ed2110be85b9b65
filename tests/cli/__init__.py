"""The command line, against the real doors and a real Postgres."""
