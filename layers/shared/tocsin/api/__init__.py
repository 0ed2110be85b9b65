"""The HTTP API, line by line: each module lists the endpoints of one concern."""
