"""Whom we know and what they want."""
