import sys
import unittest
from pathlib import Path

# The package `asya` as npm installed it. Remove these lines if you install it with pip.
sys.path.append(str(Path(__file__).parent / "{{python}}"))

from asya.testing import run  # noqa: E402

from shout import shout  # noqa: E402


class ShoutTest(unittest.TestCase):
    def test_shouts(self):
        result = run(shout, {"greeting": "Hello, you"})
        self.assertEqual(result.items, [{"greeting": "HELLO, YOU!"}])

    def test_needs_a_greeting(self):
        with self.assertRaises(KeyError):
            run(shout, {})
