"""The ways out: one small Protocol, one module per provider."""
