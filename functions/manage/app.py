"""The door for managing users, devices, keys, templates, types, suppressions, providers, and who hears of what."""

from tocsin.api import gathering, managing, providing, service, suppressing, wording
from tocsin.http import door

handler = door(
    [*managing.ENDPOINTS, *gathering.ENDPOINTS, *wording.ENDPOINTS, *suppressing.ENDPOINTS, *providing.ENDPOINTS],
    otherwise=service.otherwise,
)
