"""The running stack, for every test of this folder."""

from tests.e2e.stack import running_stack

__all__ = ["running_stack"]
