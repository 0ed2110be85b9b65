"""Everything asynchronous: workers and the sweep that starts them."""
