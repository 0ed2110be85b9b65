"""The end-to-end tests of the local stack, each once more: HTTP, queue and event in; mail, SMS, push and inbox out."""

from tests.e2e.test_docs import *  # noqa: F403 - every test of it, and those to come
from tests.e2e.test_service import *  # noqa: F403
from tests.e2e.test_wait import test_curl_follows_to_where_one_waits_and_is_told_the_outcome  # noqa: F401
