"""The runtime reads a handler's parameters from its code, without `inspect`. Run by test/runtimes/parameters.test.ts."""

import functools
import inspect
import operator
import unittest

import asya_runtime
from asya_runtime import inspected_parameters, parameters_of


def wrapped(function):
    @functools.wraps(function)
    def wrapper(*args, **keywords):
        return function(*args, **keywords)

    return wrapper


def plain(payload): ...
def two(payload, ctx): ...
def default(payload, threshold=0.5): ...
def all_default(payload=None, ctx=None): ...
def positional_only(payload, /, ctx): ...
def keyword_only(payload, *, key): ...
def keyword_default(payload, *, key=1): ...
def mixed(payload, ctx=None, *rest, key, other=2, **more): ...
def nothing(): ...
def variadic(*args): ...
def keywords(**more): ...
async def later(payload, ctx): ...
def generator(payload, ctx):
    yield payload


async def later_generator(payload, ctx):
    yield payload


class Simple:
    def method(self, payload, ctx): ...

    @classmethod
    def of_class(cls, payload, ctx=None): ...

    @staticmethod
    def static(payload): ...

    @wrapped
    def decorated(self, payload, ctx): ...

    def __call__(self, payload, ctx): ...


class WithInit:
    def __init__(self, model, size=1, *, device): ...


class Inherits(WithInit): ...


class WithNew:
    def __new__(cls, model): ...


class Meta(type):
    def __call__(cls, model=None): ...


class WithMeta(metaclass=Meta):
    def __init__(self, model): ...


def signed(*args): ...


signed.__signature__ = inspect.signature(two)
as_method = Simple()

FUNCTIONS = [
    *(plain, two, default, all_default, positional_only, keyword_only, keyword_default, mixed, nothing, variadic),
    *(keywords, later, generator, later_generator, signed, lambda payload, ctx=1: 0),
    *(as_method.method, Simple.of_class, Simple.static, as_method.static, as_method.decorated, as_method),
    *(wrapped(two), wrapped(wrapped(mixed)), wrapped(as_method.method), functools.lru_cache(two)),
    *(functools.partial(two, 1), functools.partial(mixed, key=1), wrapped(functools.partial(two, 1))),
    *(Simple, WithInit, Inherits, WithNew, WithMeta, Exception, dict, len, print, operator.itemgetter(1)),
]


class ParametersTest(unittest.TestCase):
    def test_equal_those_of_inspect(self):
        for function in FUNCTIONS:
            with self.subTest(function):
                self.assertEqual(parameters_of(function), inspected_parameters(function))

    def test_a_circle_of_wrappers(self):
        def circle(payload): ...

        circle.__wrapped__ = circle
        self.assertEqual(parameters_of(circle), inspected_parameters(circle))

    def test_knows_what_can_be_awaited(self):
        coroutine = later(1, 2)
        for value in (coroutine, generator(1, 2), later_generator(1, 2), 1, None, {}, plain):
            with self.subTest(value):
                self.assertEqual(asya_runtime.is_awaitable(value), inspect.isawaitable(value))
        coroutine.close()


if __name__ == "__main__":
    unittest.main()
