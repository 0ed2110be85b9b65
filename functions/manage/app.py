"""The door for managing users, devices and keys."""

from tocsin.api import managing
from tocsin.http import door

handler = door(managing.ENDPOINTS)
