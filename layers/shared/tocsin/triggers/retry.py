"""What a handler's answer means for its run: done, tried again by the trigger's own policy, or failed."""

from dataclasses import dataclass
from datetime import timedelta

from tocsin.dead_letters.recovery_hints import hint_for
from tocsin.delivery import backoff
from tocsin.foundation.work_queue import is_reachable_by_nudge
from tocsin.store.rows import RunEnd, Work


@dataclass(frozen=True, slots=True)
class HandlerFailure:
    """Why a handler did not do its work. The code is for machines; a permanent one would be the same at the next try; what has to
    `wait`, for a reason that is not the handler's, uses no try."""

    code: str
    message: str
    is_permanent: bool = False
    wait: timedelta | None = None


def end_of(work: Work, failure: HandlerFailure | None) -> RunEnd:
    """How a run goes on that was tried. The times between the tries are exactly the policy's."""
    if failure is None:
        return RunEnd(work.id, "done", is_tried=True)
    if failure.wait is not None:
        return put_off(work, failure.wait)
    tries = work.attempt_count + 1
    if failure.is_permanent or tries >= work.max_attempts:
        classification = "permanent" if failure.is_permanent else "exhausted"
        hint = hint_for(f"handler_{classification}")
        return RunEnd(work.id, "failed", True, None, False, classification, failure.code, failure.message, hint)
    delay = backoff.delay(work.retry_backoff, timedelta(milliseconds=work.retry_base_ms), tries, jitter=0)
    return RunEnd(work.id, "again", True, delay, is_reachable_by_nudge(delay))


def put_off(work: Work, delay: timedelta) -> RunEnd:
    """The handler was not asked, for a reason of our own: it is no try."""
    return RunEnd(work.id, "again", False, delay, is_reachable_by_nudge(delay))
