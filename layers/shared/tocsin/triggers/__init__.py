"""Triggers: what runs when a value changes or work dies, and as whom."""
