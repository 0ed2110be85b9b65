"""The Python client: its logic against answers of ours, its calls against the doors themselves."""
