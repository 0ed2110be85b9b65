"""What a test needs of the world: a database under each role, a queue that remembers, ways out that obey."""

from collections import deque
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection, sql
from psycopg.rows import dict_row

from tests.sessions import Sessions, begin
from tests.work_queue import Nudge, WorkQueue
from tocsin.access import key_format
from tocsin.access.audit import Actor
from tocsin.channels.outcomes import Accepted, Outcome
from tocsin.channels.sandbox import Sandbox
from tocsin.channels.ways import Message, Ways
from tocsin.delivery.prepare import Policy
from tocsin.foundation import strict_json
from tocsin.foundation.ids import uuid7
from tocsin.intake import accept_intents
from tocsin.intake.accept_intents import Asked
from tocsin.intake.admission import Sender
from tocsin.intake.intents import Intent
from tocsin.outbox.dispatch import dispatch
from tocsin.outbox.worker import Worker
from tocsin.store import api_keys
from tocsin.upkeep import bootstrap

TENANT = UUID("00000000-0000-7000-8000-000000000001")
OTHER_TENANT = UUID("00000000-0000-7000-8000-000000000002")
LEASE = timedelta(seconds=90)
WINDOW = timedelta(minutes=15)


class Postbox:
    """A way out that keeps what it accepted and answers as it is told, in order; then it accepts."""

    def __init__(self, provider: str = "ses", lane: str = "ses:email") -> None:
        self.provider, self.lane = provider, lane
        self.accepted: list[Message] = []
        self.calls = 0
        self.answers: deque[Outcome | Callable[[Message], Outcome]] = deque()

    def send(self, message: Message) -> Outcome:
        self.calls += 1
        answer: Any = self.answers.popleft() if self.answers else None
        if callable(answer):
            answer = answer(message)
        if answer is None or isinstance(answer, Accepted):
            self.accepted.append(message)
            return answer or Accepted(f"m-{len(self.accepted)}")
        return answer


class World:
    def __init__(self, dsn: Callable[[str], str], work_queue: WorkQueue | None = None, sessions: Sessions | None = None) -> None:
        self.dsn = dsn
        self.work_queue = work_queue
        self._sessions = sessions
        self._open: dict[str, Connection[Any]] = {}
        self.extra: list[Connection[Any]] = []
        self.email, self.sms, self.push = Postbox(), Postbox("sns", "sns:sms"), Postbox("sns", "sns:push")
        self.now = timedelta(0)
        self._last_id = UUID(int=0)

    @property
    def app(self) -> Connection[Any]:
        return self._as("tocsin_app")

    @property
    def worker(self) -> Connection[Any]:
        return self._as("tocsin_worker")

    @property
    def retention(self) -> Connection[Any]:
        return self._as("tocsin_retention")

    @property
    def admin(self) -> Connection[Any]:
        """The superuser: sees everything, whatever the policies say."""
        return self._as("postgres")

    def connect(self, role: str = "tocsin_worker") -> Connection[Any]:
        """A connection of one's own, for tests in which two meet."""
        conn = begin(self.dsn(role))
        self._set_clock(conn)
        self.extra.append(conn)
        return conn

    def pass_time(self, more: timedelta) -> None:
        """Move the database's clock for every connection of this world."""
        self.now += more
        name = self.admin.info.dbname
        for conn in [*self._open.values(), *self.extra]:
            if not conn.closed:
                self._set_clock(conn)
        self.admin.execute(f"ALTER DATABASE {name} SET tocsin.clock_offset = '{self._offset}'")  # type: ignore[call-overload]

    def rows(self, query: str, **parameters: Any) -> list[dict[str, Any]]:
        return self.admin.cursor(row_factory=dict_row).execute(query, parameters).fetchall()  # type: ignore[call-overload, no-any-return]

    def one(self, query: str, **parameters: Any) -> Any:
        """The single value of a query."""
        row = self.admin.execute(query, parameters).fetchone()  # type: ignore[call-overload]
        assert row is not None
        return row[0]

    def add_tenant(self, tenant_id: UUID = OTHER_TENANT, name: str = "other") -> UUID:
        bootstrap.make_tenant(self.worker, tenant_id, name)
        return tenant_id

    def add_user(self, external_id: str = "alice", *, tenant: UUID = TENANT, **fields: Any) -> UUID:
        user_id = self._next_id()
        values = {"email": f"{external_id}@example.com", "phone": None} | fields
        self.admin.execute(
            "INSERT INTO users (id, tenant_id, external_id, email, phone) VALUES (%s, %s, %s, %s, %s)",
            [user_id, tenant, external_id, values["email"], values["phone"]],
        )
        return user_id

    def add_device(self, user_id: UUID, token: str = "device-1", platform: str = "fcm", tenant: UUID = TENANT) -> UUID:
        device_id = self._next_id()
        self.admin.execute(
            "INSERT INTO devices (id, tenant_id, user_id, platform, token) VALUES (%s, %s, %s, %s, %s)",
            [device_id, tenant, user_id, platform, token],
        )
        return device_id

    def add_key(
        self, *scopes: str, tenant: UUID = TENANT, mode: str = "live", producer: str = "shop", owner: UUID | None = None
    ) -> str:
        """Without the audit row of its making, so that a test sees those of what it does."""
        key_id = uuid7()
        minted = key_format.mint(key_id, mode)
        api_keys.insert(
            self.worker,
            key_id=key_id,
            tenant_id=tenant,
            producer=producer,
            name="test",
            mode=mode,
            key_prefix=minted.prefix,
            key_hash=minted.hash,
            scopes=list(scopes),
            rate_limit=None,
            expires_at=None,
            user_id=owner,
        )
        return minted.plain

    def asked(self, *, key: str | None = None, **intent: Any) -> Asked:
        """An intent as it would come in; without an audience it goes to alice by email."""
        body = {
            "type": "order.shipped",
            "audience": {"kind": "users", "user_ids": ["alice"]},
            "channels": ["email"],
            "payload": {"title": "Shipped", "message": "It is on its way."},
        } | intent
        return Asked(key or str(uuid7()), Intent.model_validate(body), strict_json.fingerprint(body))

    def try_accept(
        self,
        *asked: Asked,
        conn: Connection[Any] | None = None,
        tenant: UUID = TENANT,
        producer: str = "shop",
        mode: str = "live",
        rate_limit: int = 1_000_000,
        reply_within: timedelta | None = None,
    ) -> list[accept_intents.IntakeEnd]:
        """How each intent ends when they are accepted together, in one transaction."""
        sender = Sender(tenant, producer, mode, rate_subject="test", rate_limit=rate_limit, actor=Actor(tenant, "test"))
        ends, _ = accept_intents.accept(
            conn or self.app,
            list(asked),
            sender=sender,
            request_id="r",
            trace_id="",
            window=timedelta(days=7),
            reply_within=reply_within,
        )
        return ends

    def accept(
        self,
        *,
        key: str | None = None,
        tenant: UUID = TENANT,
        mode: str = "live",
        reply_within: timedelta | None = None,
        **intent: Any,
    ) -> Asked:
        """Accept one intent through the real use case; without an audience it goes to alice by email."""
        asked = self.asked(key=key, **intent)
        (end,) = self.try_accept(asked, tenant=tenant, mode=mode, reply_within=reply_within)
        assert isinstance(end, accept_intents.Admitted), end
        return asked

    def worker_policy(self, *, batch_size: int = 100, concurrency: int = 4, allow_private: bool = False) -> Worker:
        ways = Ways({"email": self.email, "sms": self.sms, "push": self.push}, Sandbox())
        policy = Policy(WINDOW, concurrency, allow_private=allow_private)
        return Worker(ways, LEASE, policy, lambda: timedelta(seconds=30), batch_size)

    def due(self) -> list[UUID]:
        """Everything in the outbox, as if every nudge had been delivered."""
        return [row["id"] for row in self.rows("SELECT id FROM outbox ORDER BY due_at, id")]

    def dispatch(self, conn: Connection[Any] | None = None, **policy: Any) -> int:
        return dispatch(conn or self.worker, self.due(), self.worker_policy(**policy))

    def routes(self) -> list[dict[str, Any]]:
        return self.rows("SELECT * FROM routes ORDER BY route_id")

    def route(self) -> dict[str, Any]:
        """The only route there is."""
        (route,) = self.routes()
        return route

    def attempts(self) -> list[dict[str, Any]]:
        return self.rows("SELECT * FROM attempts ORDER BY route_id, generation, attempt_no")

    def dead_letters(self) -> list[dict[str, Any]]:
        return self.rows("SELECT * FROM dead_letters ORDER BY created_at, id")

    def system_events(self) -> list[dict[str, Any]]:
        return self.rows("SELECT * FROM admin_system_events ORDER BY id")

    def inbox(self) -> list[dict[str, Any]]:
        return self.rows("SELECT * FROM notifications ORDER BY created_at, id")

    def count(self, table: str) -> int:
        query = sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(table))
        return int(self.admin.execute(query).fetchone()[0])  # type: ignore[index]

    def nudges(self) -> list[Nudge]:
        """What is on the work queue, the delayed ones too."""
        assert self.work_queue is not None
        return self.work_queue.nudges()

    def close(self) -> None:
        """End what was begun here; the sessions that were lent go back to where they came from."""
        own = [] if self._sessions else self._open.values()
        for conn in [*own, *self.extra]:
            conn.close()

    def _next_id(self) -> UUID:
        """As `uuid7`, and above the one before: of two that are made in one millisecond, chance says which is first."""
        made = uuid7()
        while made <= self._last_id:
            made = uuid7()
        self._last_id = made
        return made

    @property
    def _offset(self) -> str:
        return f"{self.now.total_seconds()} seconds"

    def _set_clock(self, conn: Connection[Any]) -> None:
        if self.now:
            conn.execute("SELECT set_config('tocsin.clock_offset', %s, false)", [self._offset])

    def _as(self, role: str) -> Connection[Any]:
        if role not in self._open:
            self._open[role] = self._sessions.take(role) if self._sessions else begin(self.dsn(role))
            self._set_clock(self._open[role])
        return self._open[role]
