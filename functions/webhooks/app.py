"""The door for webhooks: nudges from their queue. Apart from dispatch, so that somebody's slow endpoint delays no message."""

from datetime import timedelta

from tocsin.outbox.door import worker_door

LONGEST_CALL = timedelta(seconds=15)  # however patient a webhook is

handler = worker_door(longest_call=LONGEST_CALL)
