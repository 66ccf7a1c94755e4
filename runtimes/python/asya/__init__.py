"""What a handler imports: `from asya import Context, RetryAfter, NonRetryable`. `asya.testing` runs a handler in a test.

All of it is defined in the runtime, which is one file and also works without this package.
"""

from asya._runtime import Context, NonRetryable, RetryAfter, Route, RoutedError

__all__ = ["Context", "NonRetryable", "RetryAfter", "Route", "RoutedError"]
