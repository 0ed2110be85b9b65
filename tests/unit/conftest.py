"""Properties without a stopwatch, and the same examples on every machine."""

from hypothesis import settings

settings.register_profile("unit", deadline=None, derandomize=True, database=None)
settings.load_profile("unit")
