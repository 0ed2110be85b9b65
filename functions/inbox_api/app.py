"""The door for readers: what became of notifications, what is in an inbox, and the way out of a mailing."""

from tocsin.api import asking, suppressing
from tocsin.http import door

handler = door([*asking.ENDPOINTS, *suppressing.PUBLIC_ENDPOINTS])
