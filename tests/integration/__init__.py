"""Use cases and store on a real Postgres."""
