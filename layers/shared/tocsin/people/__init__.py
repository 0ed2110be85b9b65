"""Whom we know: addresses and time zones."""
