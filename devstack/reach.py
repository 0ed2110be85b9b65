"""Where the servers of the stack listen, and where functions find them: on loopback, unless the functions are in containers."""

from dataclasses import dataclass

LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Reach:
    """`guests` is a network whose machines Postgres admits too, by password; those on loopback it trusts."""

    listen: str = LOOPBACK
    seen_as: str = LOOPBACK
    guests: str | None = None

    def seen(self, url: str) -> str:
        """The address of one of our servers as a function must write it."""
        return url.replace(f"//{self.listen}:", f"//{self.seen_as}:", 1)

    @property
    def addresses(self) -> str:
        """Where Postgres listens, which must hear us too."""
        return ",".join(dict.fromkeys((LOOPBACK, self.listen)))
