"""Why the database cannot be used: one word of a closed list, for the log and for whoever it wakes. Pure."""

from enum import StrEnum


class Reason(StrEnum):
    NAME_RESOLUTION = "name_resolution"  # its name leads nowhere
    REFUSED = "refused"  # nobody listens there
    UNREACHABLE = "unreachable"  # no route leads there
    TLS = "tls"  # one side wants it and the other has none, or the certificate is not trusted
    SECRET = "secret"  # noqa: S105 - the password could not be read
    PASSWORD = "password"  # noqa: S105 - the password is wrong
    NOT_ALLOWED = "not_allowed"  # the role may not come in from here
    NO_DATABASE = "no_database"
    TOO_MANY_CONNECTIONS = "too_many_connections"
    STARTING_UP = "starting_up"
    SHUTTING_DOWN = "shutting_down"
    READ_ONLY = "read_only"  # a standby, or the old primary after a failover
    DISK_FULL = "disk_full"
    OUT_OF_RESOURCES = "out_of_resources"  # memory or another limit of the server
    STORAGE = "storage"  # it cannot read or write its files
    LOCKED = "locked"  # somebody else held what we needed for too long
    TIMEOUT = "timeout"  # it did not answer in time
    LOST = "lost"  # the connection broke


class DatabaseUnavailable(Exception):
    """Postgres cannot be used just now, for this reason. HTTP doors answer 503, queue doors leave the message on the queue."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(str(reason))
        self.reason = reason

    @property
    def said(self) -> dict[str, str]:
        """For the log: the reason, and the kind of error behind it. Never its words, which may hold anything."""
        return {"reason": str(self.reason), "error": type(self.__cause__ or self).__name__}


# By SQLSTATE: the first beginning that fits. What is in no line is no outage but a mistake of ours.
_BY_STATE = (
    ("08", Reason.LOST),
    ("25006", Reason.READ_ONLY),
    ("25P03", Reason.LOST),  # idle in a transaction for too long
    ("25P04", Reason.TIMEOUT),
    ("28P01", Reason.PASSWORD),
    ("28", Reason.NOT_ALLOWED),
    ("3D000", Reason.NO_DATABASE),
    ("40", Reason.LOCKED),  # a deadlock, again and again
    ("53100", Reason.DISK_FULL),
    ("53300", Reason.TOO_MANY_CONNECTIONS),
    ("53", Reason.OUT_OF_RESOURCES),
    ("55P03", Reason.LOCKED),
    ("57014", Reason.TIMEOUT),
    ("57P01", Reason.SHUTTING_DOWN),
    ("57P03", Reason.STARTING_UP),
    ("57P04", Reason.NO_DATABASE),
    ("57", Reason.LOST),
    ("58", Reason.STORAGE),
)

# By what libpq and psycopg say where no SQLSTATE reaches us, as while connecting: the first words that occur.
_BY_WORDS = (
    ("failed to resolve host", Reason.NAME_RESOLUTION),
    ("could not translate host name", Reason.NAME_RESOLUTION),
    ("password authentication failed", Reason.PASSWORD),
    ("no password supplied", Reason.PASSWORD),
    ("has no credentials for the role", Reason.PASSWORD),  # RDS Proxy
    ("no encryption", Reason.TLS),  # no line of pg_hba.conf takes a connection without it
    ("ssl off", Reason.TLS),
    ("pg_hba.conf", Reason.NOT_ALLOWED),
    ("not permitted to log in", Reason.NOT_ALLOWED),
    ("permission denied for database", Reason.NOT_ALLOWED),
    ("too many clients", Reason.TOO_MANY_CONNECTIONS),
    ("too many connections", Reason.TOO_MANY_CONNECTIONS),
    ("remaining connection slots", Reason.TOO_MANY_CONNECTIONS),
    ("waiting to acquire database connection", Reason.TOO_MANY_CONNECTIONS),  # RDS Proxy
    ("starting up", Reason.STARTING_UP),
    ("not yet accepting connections", Reason.STARTING_UP),
    ("not accepting connections", Reason.STARTING_UP),
    ("in recovery mode", Reason.STARTING_UP),
    ("shutting down", Reason.SHUTTING_DOWN),
    ("terminating connection", Reason.SHUTTING_DOWN),
    ("certificate", Reason.TLS),
    ("does not support ssl", Reason.TLS),
    ("ssl error", Reason.TLS),
    ("connection refused", Reason.REFUSED),
    ("no route to host", Reason.UNREACHABLE),
    ("network is unreachable", Reason.UNREACHABLE),
    ("timeout expired", Reason.TIMEOUT),
    ("timed out", Reason.TIMEOUT),
    ("timed-out", Reason.TIMEOUT),
)


def by_state(sqlstate: str) -> Reason | None:
    """The reason, or None when the statement was at fault and not the database."""
    return next((reason for beginning, reason in _BY_STATE if sqlstate.startswith(beginning)), None)


def by_words(message: str) -> Reason:
    said = message.lower()
    if "database" in said and "does not exist" in said:
        return Reason.NO_DATABASE
    if "role" in said and "does not exist" in said:
        return Reason.NOT_ALLOWED
    return next((reason for words, reason in _BY_WORDS if words in said), Reason.LOST)
