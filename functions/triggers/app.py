"""The door for triggers: nudges from their queue, each carried to what its handler does."""

import tocsin.triggers.run  # noqa: F401 - when the function starts, not with its first run
from tocsin.outbox.door import worker_door

handler = worker_door()
