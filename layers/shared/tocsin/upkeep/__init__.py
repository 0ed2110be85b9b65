"""The installation itself: schema, first keys, counting, the books, forgetting, what is wrong with it."""
