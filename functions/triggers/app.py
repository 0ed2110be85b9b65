"""The door for triggers: nudges from their queue, each carried to what its handler does."""

from tocsin.outbox.door import worker_door

handler = worker_door()
