"""Why a migration failed, in one line that may leave the installation: CloudFormation shows it to whoever deploys."""

import psycopg

from tocsin.foundation.connecting import reason_of
from tocsin.foundation.outages import DatabaseUnavailable
from tocsin.foundation.secrets import SecretUnavailable
from tocsin.foundation.settings import InvalidSetting, MissingSetting
from tocsin.upkeep.migrate import MigrationUnderWay

LONGEST = 600  # characters: CloudFormation cuts a reason after about a thousand, and where the log is comes after this
# What these say is made by us, of names and numbers.
_OURS = (MigrationUnderWay, DatabaseUnavailable, SecretUnavailable, InvalidSetting, MissingSetting)
# Data exceptions quote the value they stumbled over, and RAISE says whatever it was told to; their names must do.
_QUOTING = ("22", "P0")


def in_one_line(error: Exception) -> str:
    """Which migration it was (a note on the error), the SQLSTATE and Postgres's words. Never a secret, nor what a row holds: not
    the detail that Postgres adds, and of errors that nobody here knows only the name."""
    said = " ".join(": ".join([*getattr(error, "__notes__", []), _said(error)]).split())
    return said if len(said) <= LONGEST else f"{said[: LONGEST - 1]}…"


def _said(error: Exception) -> str:
    name = type(error).__name__
    if isinstance(error, psycopg.Error) and error.sqlstate:
        words = None if error.sqlstate.startswith(_QUOTING) else error.diag.message_primary
        return f"{error.sqlstate} {words or name}"
    if isinstance(error, psycopg.Error) and (reason := reason_of(error)):
        return f"{name}: {reason}"
    return f"{name}: {error}" if isinstance(error, _OURS) else name
