"""Who hears of it, and why."""
