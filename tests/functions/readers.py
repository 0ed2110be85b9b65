"""A person at their inbox, as a browser or a server of theirs sees it."""

from dataclasses import dataclass
from typing import Any

from tests.functions.doors import Answer, Api
from tests.world import World


@dataclass
class Reader:
    """By a user token, or by a server key together with `user`."""

    api: Api
    user: str = ""

    def get(self, path: str = "/v1/inbox", *, headers: dict[str, str] | None = None, **query: Any) -> Answer:
        return self.api.get(path, query=self._named(query), headers=headers)

    def rows(self, status: str = "all", **query: Any) -> list[dict[str, Any]]:
        answer = self.get(status=status, **query)
        assert answer.status == 200, answer.text
        rows: list[dict[str, Any]] = answer.json["data"]
        return rows

    def titles(self, status: str = "all", **query: Any) -> list[str]:
        return [row["title"] for row in self.rows(status, **query)]

    def row(self, title: str, status: str = "all") -> dict[str, Any]:
        (row,) = [row for row in self.rows(status) if row["title"] == title]
        return row

    def unread(self) -> int:
        count: int = self.get("/v1/inbox/unread-count").json["unread"]
        return count

    def change(self, row_id: str, **changes: Any) -> Answer:
        return self.api.patch(f"/v1/inbox/{row_id}", changes, query=self._named({}))

    def hide(self, row_id: str) -> Answer:
        return self.api.delete(f"/v1/inbox/{row_id}", query=self._named({}))

    def read_all(self, **body: Any) -> Answer:
        return self.api.post("/v1/inbox/read-all", body, query=self._named({}))

    def finish_all(self, **body: Any) -> Answer:
        return self.api.post("/v1/inbox/done-all", body, query=self._named({}))

    def see(self, **body: Any) -> Answer:
        return self.api.post("/v1/inbox/seen", body, query=self._named({}))

    def unseen(self) -> int:
        count: int = self.get("/v1/inbox/unread-count").json["unseen"]
        return count

    def _named(self, query: dict[str, str]) -> dict[str, str]:
        return query | ({"user_id": self.user} if self.user else {})


def arrive(world: World, title: str, **intent: Any) -> None:
    """A notification in alice's inbox, unless the audience is another."""
    world.accept(**({"channels": ["in_app"], "payload": {"title": title, "message": f"about {title}"}} | intent))
    world.dispatch()


def announce(world: World, title: str, **intent: Any) -> None:
    """A row for everyone."""
    arrive(world, title, audience={"kind": "tenant"}, **intent)
