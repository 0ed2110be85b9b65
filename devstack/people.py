"""Somebody whose inbox to look at: users of the local stack and tokens for them, by way of the API itself."""

import json
from http.client import HTTPConnection
from typing import Any
from urllib.parse import quote, urlsplit

SHOWN = 100
SECONDS = 30.0
UNKNOWN = 404


class RefusedError(Exception):
    """The API said no; whoever asked for the page is told what the API said."""

    def __init__(self, status: int, answer: Any) -> None:
        super().__init__(f"{status}: {answer}")
        self.status = status
        self.answer = answer

    @property
    def said(self) -> str:
        """The refusal in words, for a person."""
        told = self.answer if isinstance(self.answer, dict) else {}
        errors = [f"{each.get('pointer', '')} {each.get('message', '')}".strip() for each in told.get("errors") or []]
        return " ".join([str(told.get("detail") or told.get("title") or f"The API answered {self.status}."), *errors])


class People:
    def __init__(self, url: str, key: str) -> None:
        self._address = urlsplit(url).netloc
        self._key = key

    def known(self) -> list[str]:
        """The ids of the users that were made last."""
        return [str(user["id"]) for user in self._ask("GET", f"/v1/users?limit={SHOWN}")["data"]]

    def token(self, user_id: str) -> str:
        """What lets this user into her own inbox; a user that does not exist is made."""
        path = f"/v1/users/{quote(user_id, safe='')}"
        try:
            made = self._ask("POST", f"{path}/tokens", {})
        except RefusedError as error:
            if error.status != UNKNOWN:
                raise
            self._ask("PUT", path, {})
            made = self._ask("POST", f"{path}/tokens", {})
        return str(made["token"])

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        connection = HTTPConnection(self._address, timeout=SECONDS)
        headers = {"Authorization": f"Bearer {self._key}", "Content-Type": "application/json"}
        try:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            response = connection.getresponse()
            answer = json.loads(response.read())
        finally:
            connection.close()
        if response.status >= 400:
            raise RefusedError(response.status, answer)
        return answer
