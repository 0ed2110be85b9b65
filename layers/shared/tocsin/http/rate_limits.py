"""Rate limits as HTTP says them: headers beside every answer, and 429 when it is too much."""

from tocsin.access.rate_limits import Allowance, seconds_left
from tocsin.http.problems import Problem


def headers_of(allowance: Allowance, what: str) -> dict[str, str]:
    left = max(0, allowance.limit - allowance.used)
    return {"RateLimit-Policy": f'"{what}";q={allowance.limit};w=60', "RateLimit": f'"{what}";r={left};t={seconds_left()}'}


def too_many(limit: int, what: str) -> Problem:
    return _refused(limit, what, f"Too many {what}", f"This key may send {limit} {what} a minute.")


def too_many_calls(limit: int, *, of: str) -> Problem:
    return _refused(limit, "api", "Too many calls", f"This {of} may make {limit} calls a minute.")


def _refused(limit: int, what: str, title: str, detail: str) -> Problem:
    headers = {"Retry-After": str(seconds_left())} | headers_of(Allowance(limit, limit), what)
    return Problem(429, "rate-limited", title, f"{detail} Nothing was stored; try again later.", headers=headers)
