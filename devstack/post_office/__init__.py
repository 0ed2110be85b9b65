"""A post office in place of the providers: it speaks their wire, keeps what it accepts, and fails on request."""

from devstack.post_office.office import PostOffice

__all__ = ["PostOffice"]
