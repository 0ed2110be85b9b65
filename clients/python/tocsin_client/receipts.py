"""What is answered to who sends. Pure."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tocsin_client.notifications import Route, route_of
from tocsin_client.problems import Problem, problem_of
from tocsin_client.remarks import Remark, remarks
from tocsin_client.request import Answer
from tocsin_client.wire import read_moment


@dataclass(frozen=True, slots=True)
class Receipt:
    """It is committed. `is_replay`: the key was known, so this is the first answer again and nothing new is sent; that may be
    because an earlier try of the same call had arrived. `routes` has the outcomes of who waited, and is empty else."""

    notification_id: str
    status: str
    accepted_at: datetime
    idempotency_key: str
    is_replay: bool = False
    warnings: tuple[Remark, ...] = ()
    routes: tuple[Route, ...] = ()
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class BatchResult:
    """One of a batch: taken (`status` 202), or refused with its `problem`, which is not raised."""

    idempotency_key: str | None
    status: int
    notification_id: str | None = None
    is_replay: bool = False
    warnings: tuple[Remark, ...] = ()
    problem: Problem | None = None

    @property
    def is_accepted(self) -> bool:
        return self.problem is None


@dataclass(frozen=True, slots=True)
class EventReceipt:
    """It is committed. `routed` is False where no routing matches its type, so that nobody will be told; None where the service
    does not say."""

    notification_id: str
    event_id: str
    source: str
    status: str
    recorded_at: datetime
    routed: bool | None = None

    @property
    def is_duplicate(self) -> bool:
        return self.status == "duplicate"


@dataclass(frozen=True, slots=True)
class Cancelled:
    """How many routes were stopped, and for how many it was too late."""

    notification_id: str
    stopped: int
    too_late: int


def receipt_of(answer: Answer, idempotency_key: str) -> Receipt:
    body = answer.json
    return Receipt(
        notification_id=body["notification_id"],
        status=body["status"],
        accepted_at=read_moment(body["accepted_at"]),
        idempotency_key=idempotency_key,
        is_replay=answer.headers.get("idempotency-replayed", "").lower() == "true",
        warnings=remarks(body.get("warnings")),
        routes=tuple(route_of(route) for route in body.get("routes", ())),
        reason=body.get("reason"),
    )


def read_batch(answer: Answer) -> list[BatchResult]:
    return [_result_of(row) for row in answer.json["results"]]


def _result_of(row: dict[str, Any]) -> BatchResult:
    problem = None
    if "problem" in row:
        problem = problem_of(row["status"], row["problem"])
        problem.idempotency_keys = (row["idempotency_key"],) if row["idempotency_key"] else ()
    return BatchResult(
        idempotency_key=row["idempotency_key"],
        status=row["status"],
        notification_id=row.get("notification_id"),
        is_replay=bool(row.get("replayed")),
        warnings=remarks(row.get("warnings")),
        problem=problem,
    )


def read_event(answer: Answer) -> EventReceipt:
    body = answer.json
    return EventReceipt(
        notification_id=body["notification_id"],
        event_id=body["event_id"],
        source=body["source"],
        status=body["status"],
        recorded_at=read_moment(body["recorded_at"]),
        routed=body.get("routed"),
    )


def read_cancelled(answer: Answer) -> Cancelled:
    body = answer.json
    return Cancelled(body["notification_id"], body["stopped"], body["too_late"])
