"""The only SQL: one module per table, named after it. Functions take `conn` first and never open or commit a transaction."""
