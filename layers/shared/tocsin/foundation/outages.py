"""Why the database cannot be used: one word of a closed list, for the log and for whoever it wakes. Pure."""

from enum import StrEnum


class OutageReason(StrEnum):
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

    def __init__(self, reason: OutageReason) -> None:
        super().__init__(str(reason))
        self.reason = reason

    @property
    def said(self) -> dict[str, str]:
        """For the log: the reason, and the kind of error behind it. Never its words, which may hold anything."""
        return {"reason": str(self.reason), "error": type(self.__cause__ or self).__name__}


# By SQLSTATE: the first beginning that fits. What is in no line is no outage but a mistake of ours.
_BY_STATE = (
    ("08", OutageReason.LOST),
    ("25006", OutageReason.READ_ONLY),
    ("25P03", OutageReason.LOST),  # idle in a transaction for too long
    ("25P04", OutageReason.TIMEOUT),
    ("28P01", OutageReason.PASSWORD),
    ("28", OutageReason.NOT_ALLOWED),
    ("3D000", OutageReason.NO_DATABASE),
    ("40", OutageReason.LOCKED),  # a deadlock, again and again
    ("53100", OutageReason.DISK_FULL),
    ("53300", OutageReason.TOO_MANY_CONNECTIONS),
    ("53", OutageReason.OUT_OF_RESOURCES),
    ("55P03", OutageReason.LOCKED),
    ("57014", OutageReason.TIMEOUT),
    ("57P01", OutageReason.SHUTTING_DOWN),
    ("57P03", OutageReason.STARTING_UP),
    ("57P04", OutageReason.NO_DATABASE),
    ("57", OutageReason.LOST),
    ("58", OutageReason.STORAGE),
)

# By what libpq and psycopg say where no SQLSTATE reaches us, as while connecting: the first words that occur.
_BY_WORDS = (
    ("failed to resolve host", OutageReason.NAME_RESOLUTION),
    ("could not translate host name", OutageReason.NAME_RESOLUTION),
    ("password authentication failed", OutageReason.PASSWORD),
    ("no password supplied", OutageReason.PASSWORD),
    ("has no credentials for the role", OutageReason.PASSWORD),  # RDS Proxy
    ("no encryption", OutageReason.TLS),  # no line of pg_hba.conf takes a connection without it
    ("ssl off", OutageReason.TLS),
    ("pg_hba.conf", OutageReason.NOT_ALLOWED),
    ("not permitted to log in", OutageReason.NOT_ALLOWED),
    ("permission denied for database", OutageReason.NOT_ALLOWED),
    ("too many clients", OutageReason.TOO_MANY_CONNECTIONS),
    ("too many connections", OutageReason.TOO_MANY_CONNECTIONS),
    ("remaining connection slots", OutageReason.TOO_MANY_CONNECTIONS),
    ("waiting to acquire database connection", OutageReason.TOO_MANY_CONNECTIONS),  # RDS Proxy
    ("starting up", OutageReason.STARTING_UP),
    ("not yet accepting connections", OutageReason.STARTING_UP),
    ("not accepting connections", OutageReason.STARTING_UP),
    ("in recovery mode", OutageReason.STARTING_UP),
    ("shutting down", OutageReason.SHUTTING_DOWN),
    ("terminating connection", OutageReason.SHUTTING_DOWN),
    ("certificate", OutageReason.TLS),
    ("does not support ssl", OutageReason.TLS),
    ("ssl error", OutageReason.TLS),
    ("connection refused", OutageReason.REFUSED),
    ("no route to host", OutageReason.UNREACHABLE),
    ("network is unreachable", OutageReason.UNREACHABLE),
    ("timeout expired", OutageReason.TIMEOUT),
    ("timed out", OutageReason.TIMEOUT),
    ("timed-out", OutageReason.TIMEOUT),
)


def by_state(sqlstate: str) -> OutageReason | None:
    """The reason, or None when the statement was at fault and not the database."""
    return next((reason for beginning, reason in _BY_STATE if sqlstate.startswith(beginning)), None)


def by_words(message: str) -> OutageReason:
    said = message.lower()
    if "database" in said and "does not exist" in said:
        return OutageReason.NO_DATABASE
    if "role" in said and "does not exist" in said:
        return OutageReason.NOT_ALLOWED
    return next((reason for words, reason in _BY_WORDS if words in said), OutageReason.LOST)
