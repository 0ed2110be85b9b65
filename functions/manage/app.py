"""The door for managing users, devices, keys, templates, types, suppressions and providers."""

from tocsin.api import managing, providing, suppressing, wording
from tocsin.http import door

handler = door([*managing.ENDPOINTS, *wording.ENDPOINTS, *suppressing.ENDPOINTS, *providing.ENDPOINTS])
