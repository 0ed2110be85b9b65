"""The installation itself: schema, first keys, forgetting."""
