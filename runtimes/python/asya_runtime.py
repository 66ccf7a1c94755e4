"""Hosts one handler for the asya sidecar. Needs Python 3.9 or later and only the standard library.

    python3 asya_runtime.py my_module.my_func        (or my_module.MyClass.my_method, or ASYA_HANDLER)

A handler takes the payload, and a Context if its second parameter has no default or is named `ctx` or `context`. Its
result is sent to the next actor; None ends the route; each `yield` is one item of a fan-out. It may be async.

A sidecar that starts the runtime passes it two descriptors: calls arrive on ASYA_RUNTIME_FD, and answers leave on
ASYA_RUNTIME_ANSWER_FD. As many threads as ASYA_CONCURRENCY says run the calls. Otherwise the runtime listens at ASYA_RUNTIME_URL, and each connection has its own thread, which runs
the handler for the calls on it. Async handlers share one event loop.

The imports at the top are what every start needs. Other modules, such as `inspect` and `traceback`, take milliseconds of
a cold start, and are imported where they are used.

This file works without the package: a handler can `from asya import Context, RetryAfter, NonRetryable` even if it is not
installed. The package adds types for the editor and `asya.testing`.
"""

from __future__ import annotations

import gc
import json
import os
import re
import select
import signal
import stat
import sys
import threading
import time
from collections import namedtuple
from collections.abc import Mapping
from types import AsyncGeneratorType, FunctionType, GeneratorType, MappingProxyType, MethodType, ModuleType

TYPE_CHECKING = False  # type checkers assume True for this name; `typing` is slow to import
if TYPE_CHECKING:
    import socket
    import socketserver
    from collections.abc import Awaitable, Callable, MutableMapping
    from datetime import datetime
    from typing import Any, NoReturn

# An installed package `asya` then finds this copy, so that each class exists only once.
sys.modules.setdefault("asya._runtime", sys.modules[__name__])

# ----------------------------------------------------------------------------------------------------------------------
# Configuration
# ----------------------------------------------------------------------------------------------------------------------

IS_DEBUG = os.environ.get("ASYA_LOG_LEVEL", "").lower() == "debug"
DEFAULT_MAX_REQUEST = str(16 * 1024 * 1024)
SHUTDOWN_GRACE_S = 5.0


class StartupError(Exception):
    """Why the runtime cannot start, in one sentence. `user_error` is set if the user's own code raised."""

    def __init__(self, sentence: str, user_error: BaseException | None = None) -> None:
        super().__init__(sentence)
        self.user_error = user_error


class Settings:
    """What the environment says about hosting a handler."""

    def __init__(self, is_envelope: bool = False, is_fan_out: bool = True, max_request_bytes: int = 0) -> None:
        #: Whether a request is the whole envelope (ASYA_RUNTIME_PROTOCOL=envelope) or its payload only.
        self.is_envelope = is_envelope
        #: Whether a list is one result per item. Default: True, unless ASYA_FANOUT=never.
        self.is_fan_out = is_fan_out
        #: The largest request body, in bytes. Default: 16 MiB.
        self.max_request_bytes = max_request_bytes


class Descriptors(namedtuple("Descriptors", ("calls", "answers", "concurrency"))):
    """One end of each of two socket pairs. The sidecar, which has started this process, holds the other ends."""

    #: Calls arrive on this descriptor.
    calls: int
    #: Answers leave on this one.
    answers: int
    #: How many calls may run at the same time.
    concurrency: int


class Endpoint(namedtuple("Endpoint", ("url", "scheme", "address", "path"))):
    """Where to listen."""

    url: str
    #: "asya", "unix" or "http"; "http" also for http+unix: URLs.
    scheme: str
    #: The path of a Unix socket, or host and port.
    address: str | tuple[str, int]
    #: The HTTP path of the handler; empty for the other protocols.
    path: str


def handler_name_from(env: Mapping[str, str], arguments: list[str]) -> str:
    name = arguments[0] if arguments else env.get("ASYA_HANDLER", "")
    example = "for example my_module.my_func"
    if len(arguments) > 1:
        raise StartupError(f"expected one argument, the handler's name ({example}), but received {len(arguments)}")
    if not name:
        raise StartupError(f"no handler name: pass it as the argument ({example}), or set ASYA_HANDLER")
    return name


def settings_from(env: Mapping[str, str]) -> Settings:
    """Raises a StartupError at the first invalid value."""
    protocol = env.get("ASYA_RUNTIME_PROTOCOL") or "payload"
    if protocol not in ("payload", "envelope"):
        raise StartupError(f'ASYA_RUNTIME_PROTOCOL is "{protocol}"; expected "payload" or "envelope"')
    limit = env.get("ASYA_RUNTIME_MAX_REQUEST") or DEFAULT_MAX_REQUEST
    if not is_positive(limit):
        raise StartupError(f'ASYA_RUNTIME_MAX_REQUEST is "{limit}"; expected a whole number of bytes above 0')
    return Settings(protocol == "envelope", env.get("ASYA_FANOUT") != "never", int(limit))


def is_positive(text: str) -> bool:
    """Whether this is a whole number above 0, without a sign and leading zeros."""
    return text.isascii() and text.isdecimal() and text[0] != "0" and len(text) <= 15


def descriptors_from(env: MutableMapping[str, str], settings: Settings) -> Descriptors | None:
    """None without ASYA_RUNTIME_FD. Hides the descriptors from every process that the handler starts.

    Raises a StartupError if the variables are not valid.
    """
    names = ("ASYA_RUNTIME_FD", "ASYA_RUNTIME_ANSWER_FD")
    texts = [env.pop(name, "") for name in names]
    if not texts[0]:
        return None
    concurrency = env.get("ASYA_CONCURRENCY") or "1"
    if not is_positive(concurrency):
        raise StartupError(f'ASYA_CONCURRENCY is "{concurrency}"; expected a whole number above 0')
    if settings.is_envelope:
        raise StartupError(
            'ASYA_RUNTIME_PROTOCOL is "envelope", but the protocol of ASYA_RUNTIME_FD carries the whole context; '
            "unset one of them"
        )
    calls, answers = (own_socket(name, text) for name, text in zip(names, texts))
    return Descriptors(calls, answers, int(concurrency))


def own_socket(name: str, text: str) -> int:
    try:
        fd = int(text)
        if not stat.S_ISSOCK(os.fstat(fd).st_mode):
            raise ValueError("it is not a socket")
        os.set_inheritable(fd, False)
        os.set_blocking(fd, True)
        return fd
    except (ValueError, OverflowError, OSError) as error:
        raise StartupError(
            f'{name} is "{text}", but this descriptor cannot be used: {error}; a program between the sidecar '
            "and the runtime may have closed it: start the runtime directly, or set ASYA_RUNTIME_URL to a socket such "
            "as asya:/tmp/sockets/app.sock"
        ) from None


def endpoint_from(env: Mapping[str, str], settings: Settings) -> Endpoint:
    """Raises a StartupError if ASYA_RUNTIME_URL is not valid."""
    url = env.get("ASYA_RUNTIME_URL") or "unix:" + (env.get("ASYA_SOCKET_PATH") or "/tmp/sockets/app.sock")
    endpoint = endpoint_from_url(url)
    if endpoint.scheme == "asya" and settings.is_envelope:
        raise StartupError(
            f'ASYA_RUNTIME_PROTOCOL is "envelope", but ASYA_RUNTIME_URL is "{url}", whose protocol carries the whole '
            "context; unset ASYA_RUNTIME_PROTOCOL"
        )
    return endpoint


def endpoint_from_url(url: str) -> Endpoint:
    if found := re.fullmatch(r"(asya|unix):(.+)", url):
        return Endpoint(url, found[1], os.path.abspath(found[2]), "")
    if found := re.fullmatch(r"http\+unix:([^:]+):?(/.*)?", url):
        return Endpoint(url, "http", os.path.abspath(found[1]), found[2] or "/")
    if found := re.fullmatch(r"http://(\[[0-9a-fA-F:.]+\]|[^\[\]/:?#@]+)(?::([0-9]{1,5}))?(/[^?#]*)?", url):
        return Endpoint(url, "http", (found[1].strip("[]"), int(found[2] or 80)), found[3] or "/")
    raise StartupError(
        f'ASYA_RUNTIME_URL is "{url}"; expected a URL such as asya:/tmp/sockets/app.sock, '
        "unix:/tmp/sockets/app.sock, http://127.0.0.1:8080/invoke or http+unix:/tmp/sockets/app.sock:/invoke"
    )


def log(text: str) -> None:
    print(f"asya-runtime: {text}", file=sys.stderr, flush=True)


# ----------------------------------------------------------------------------------------------------------------------
# What a handler may import from `asya`
# ----------------------------------------------------------------------------------------------------------------------

MESH_HEADERS = ("traceparent", "tracestate", "deadline_at")
CANCEL_MARGIN_S = 0.5
CANCEL_POLL_S = 0.05
INFINITY = float("inf")
# More than the mesh passes on. A longer message is cut, and larger data is left out.
MAX_MESSAGE_CHARACTERS = 1024
MAX_DATA_BYTES = 64 * 1024


class Route(namedtuple("Route", ("prev", "curr", "next"))):
    """Where an envelope has been, is, and still has to go."""

    __module__ = "asya"
    __slots__ = ()

    #: The actors that the envelope has passed.
    prev: tuple[str, ...]
    #: The actor that it is at.
    curr: str
    #: The actors that it still has to visit. `Context.set_route_next` changes them.
    next: tuple[str, ...]


class RoutedError(namedtuple("RoutedError", ("type", "mro", "message", "traceback"))):
    """Why another actor failed, for an envelope that `onExhausted` or `_on_error` routed here."""

    __module__ = "asya"
    __slots__ = ()

    #: The error's class, for example `ValueError` or `my_module.RateLimited`.
    type: str
    #: The class and its ancestors.
    mro: tuple[str, ...]
    message: str
    #: As the language prints it. May be shortened or empty.
    traceback: str


class RetryAfter(Exception):
    """Asks for a retry after this many seconds.

    The policy for this error still decides whether there is a retry, and its own delay applies if it is longer.
    """

    __module__ = "asya"

    def __init__(self, seconds: float, message: str = "") -> None:
        if isinstance(seconds, bool) or not isinstance(seconds, (int, float)):
            raise TypeError(f"RetryAfter received {shown(seconds)}; expected a number of seconds")
        if not 0 <= seconds < INFINITY:
            raise ValueError(f"RetryAfter received {seconds}; expected a number of seconds that is 0 or more")
        super().__init__(seconds, message)
        self.retry_after = seconds

    def __str__(self) -> str:
        return str(self.args[1]) or f"retry after {self.retry_after:g} s"


class NonRetryable(Exception):
    """A retry cannot help. Unless a rule matches the error, the envelope fails at once, or goes to `onExhausted`."""

    __module__ = "asya"


class Context:
    """What a handler knows about its call besides the payload, and what it may do.

    The `asya:` protocol, the default of the sidecar, carries all of it. The older protocols carry less: the other fields
    are then None or empty, and `set_route_next` and `set_header` raise if the protocol cannot carry the change.
    """

    __module__ = "asya"
    # No other attributes: `ctx.route_next = [...]`, for example, must fail instead of having no effect.
    __slots__ = (
        *("envelope_id", "parent_id", "actor", "hop", "attempt", "max_attempts", "traceparent", "tracestate", "error"),
        *("_deadline", "_timeout_at", "_cancel_at", "_route", "_headers", "_is_route_set", "_is_header_set", "_call"),
    )

    #: Identifies the envelope. A child of a fan-out has its own.
    envelope_id: str
    #: The envelope that this one was fanned out from.
    parent_id: str | None
    #: The name of this actor.
    actor: str
    #: How many actors the envelope has passed before this one; 0 at the first.
    hop: int
    #: 1 for the first attempt at this actor, 2 for the first retry.
    attempt: int
    #: How many attempts the policy that retried this envelope allows. None before a retry, or if there is no limit.
    max_attempts: int | None
    #: The W3C trace context of this call.
    traceparent: str | None
    tracestate: str | None
    #: Why another actor failed, if `onExhausted` or `_on_error` routed the envelope here.
    error: RoutedError | None

    def __init__(self, head: Mapping[str, Any], call: Call) -> None:
        """For the runtime. In a test, `asya.testing.run` creates the context."""
        now = time.monotonic()
        route, error = head.get("route") or {}, head.get("error")
        self.envelope_id, self.parent_id = head.get("id"), head.get("parent_id")  # type: ignore[assignment]
        self.actor, self.hop = head.get("actor"), head.get("hop")  # type: ignore[assignment]
        self.attempt, self.max_attempts = head.get("attempt"), head.get("max_attempts")  # type: ignore[assignment]
        self.traceparent, self.tracestate = head.get("traceparent"), head.get("tracestate")
        self.error = routed_error_from(error) if error else None
        self._route = Route(tuple(route.get("prev") or ()), route.get("curr") or "", tuple(route.get("next") or ()))
        self._headers: dict[str, Any] = dict(head.get("headers") or {})
        self._is_route_set = self._is_header_set = False
        self._deadline: str | None = head.get("deadline")
        timeout = head.get("timeout_ms")
        seconds = INFINITY if timeout is None else timeout / 1000
        self._timeout_at, self._cancel_at = now + seconds, now + seconds - min(CANCEL_MARGIN_S, seconds / 10)
        self._call = call

    @property
    def deadline(self) -> datetime | None:
        """When the whole envelope has to be done, in UTC. None if its flow has no timeout."""
        return datetime_from(self._deadline) if self._deadline else None

    @property
    def route(self) -> Route:
        """Where the envelope has been, is, and goes next, including what `set_route_next` has changed."""
        return self._route

    @property
    def headers(self) -> Mapping[str, Any]:
        """The envelope's headers, read-only, including what `set_header` and `remove_header` have changed."""
        return MappingProxyType(self._headers)

    @property
    def idempotency_key(self) -> str:
        """`{envelope_id}:{actor}:{hop}`: the same for every attempt and redelivery of this visit, and for no other."""
        if self.envelope_id is None or self.actor is None:
            return None  # type: ignore[unreachable]  # an older protocol
        return f"{self.envelope_id}:{self.actor}:{self.hop}"

    def time_left(self) -> float:
        """Seconds until the mesh ends this call: by the timeout or the deadline, whichever is first. Never below 0.

        `math.inf` if there is no limit.
        """
        left = self._timeout_at - time.monotonic()
        if left == INFINITY and (deadline := self.deadline) is not None:  # the timeout already includes the deadline
            left = deadline.timestamp() - time.time()
        return max(left, 0.0)

    def set_route_next(self, names: list[str] | tuple[str, ...]) -> None:
        """Replaces the rest of the route for what the handler returns or yields from now on.

        Raises a TypeError if this is not a list of strings. The sidecar checks the names: an envelope with an invalid
        one, or one that ASYA_ROUTE_ALLOW does not allow, fails with a ValidationError.
        """
        self._call.require("route")
        checked = actor_names_from(names)
        self._route, self._is_route_set = self._route._replace(next=checked), True

    def set_header(self, name: str, value: Any) -> None:
        """Sets a header of what the handler returns or yields from now on. The value may be any JSON.

        Raises a ValueError if the header belongs to the mesh.
        """
        check_header_name(name)
        copy = json.loads(encode(value, f'the header "{name}"'))
        self._call.require("headers")
        self._headers[name], self._is_header_set = copy, True

    def remove_header(self, name: str) -> None:
        """Removes a header, if there is one, from what the handler returns or yields from now on.

        Raises a ValueError if the header belongs to the mesh.
        """
        check_header_name(name)
        self._call.require("headers")
        self._headers.pop(name, None)
        self._is_header_set = True

    def progress(self, percent: float | None = None, message: str | None = None, data: Any = None) -> None:
        """Reports how far the call is: to everyone who watches the task. May be called from any thread of the handler.

        `percent` is from 0 to 100; other numbers are brought into this range. `message` is one line for a person. `data`
        is any JSON. Never raises: what cannot be sent is left out. The mesh forwards a few updates per second.
        """
        head: dict[str, Any] = {}
        if is_number(percent):
            head["percent"] = min(max(percent, 0), 100)
        if message is not None:
            head["message"] = text_of(message)[:MAX_MESSAGE_CHARACTERS]
        body = b""
        try:
            body = b"" if data is None else encode(data, "it")
            if len(body) > MAX_DATA_BYTES:
                size, body = len(body), b""
                raise ValueError(f"it has {size} bytes; at most {MAX_DATA_BYTES} can be sent")
        except Exception as error:
            log(f"a progress update was sent without its data: {message_of(error)}")
        if head or body:
            self._call.report(head, body)

    def cancelled(self) -> bool:
        """Whether to stop soon: the timeout is near, the sidecar drains or is gone, or the runtime was asked to stop.

        Also True after the end of the call, for threads and tasks that its handler left running. What the handler returns
        after `cancelled()` still counts if it is in time. May be called from any thread.
        """
        return time.monotonic() >= self._cancel_at or self._call.is_cancelled()

    def wait_cancelled(self, timeout: float | None = None) -> bool:
        """Waits until `cancelled()`, at most for `timeout` seconds, and returns `cancelled()`.

        It blocks its thread. In an async handler use `await asyncio.to_thread(ctx.wait_cancelled)`.
        """
        until = INFINITY if timeout is None else time.monotonic() + timeout
        while not self.cancelled():
            left = until - time.monotonic()
            if left <= 0:
                return False
            time.sleep(min(left, CANCEL_POLL_S))
        return True

    def __repr__(self) -> str:
        return f"<Context {self.idempotency_key} attempt {self.attempt}>"


ROUTE_NEEDS = (
    "the handler set the rest of the route, which the plain socket protocol cannot carry; "
    "use asya: or http: in ASYA_RUNTIME_URL, or set ASYA_RUNTIME_PROTOCOL=envelope"
)
HEADERS_NEED = (
    "the handler set a header, which the payload protocol cannot carry; "
    "use asya: in ASYA_RUNTIME_URL, or set ASYA_RUNTIME_PROTOCOL=envelope"
)


class Call:
    """Connects a context to its call. This one is for the older protocols, which carry neither progress nor `cancel`."""

    def __init__(self, host: HandlerHost, problems: Mapping[str, str]) -> None:
        self.host, self.problems, self.is_over = host, problems, False

    def require(self, what: str) -> None:
        """Raises if the protocol cannot carry a changed `route` or changed `headers`."""
        if what in self.problems:
            raise RuntimeError(self.problems[what])

    def report(self, head: dict[str, Any], body: bytes) -> None:
        pass

    def is_cancelled(self) -> bool:
        return self.is_over or self.host.is_closing


def routed_error_from(error: Mapping[str, Any]) -> RoutedError:
    mro = tuple(error.get("mro") or ())
    return RoutedError(error.get("type") or "", mro, error.get("message") or "", error.get("traceback") or "")


def datetime_from(text: str) -> datetime | None:
    """Reads an RFC 3339 timestamp, which `datetime.fromisoformat` does only since Python 3.11."""
    import datetime as time_of_day  # slow to import, and few handlers need it

    pattern = r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:\.(\d+))?(?:[Zz]|([+-]\d\d:\d\d))"
    if not (found := re.fullmatch(pattern, text)):
        return None
    iso = f"{found[1]}T{found[2]}.{(found[3] or '')[:6]:0<6}{found[4] or '+00:00'}"
    return time_of_day.datetime.fromisoformat(iso).astimezone(time_of_day.timezone.utc)


def actor_names_from(names: Any) -> tuple[str, ...]:
    if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"set_route_next received {shown(names)}; expected a list of actor names")
    return tuple(names)


def check_header_name(name: Any) -> None:
    if not isinstance(name, str) or not name:
        raise TypeError(f"the name of a header is {shown(name)}; expected a string that is not empty")
    if is_mesh_header(name):
        raise ValueError(f'the header "{name}" belongs to the mesh; use another name')


def is_mesh_header(name: str) -> bool:
    return name.lower() in MESH_HEADERS or name.lower().startswith("x-asya-")


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value == value  # NaN is not equal to itself


def text_of(value: Any) -> str:
    try:
        return str(value)
    except Exception:
        return f"(a {type_name(type(value))} that cannot be printed)"


def shown(value: Any) -> str:
    try:
        text = repr(value)
    except Exception:
        text = f"a {type_name(type(value))}"
    return text if len(text) <= 100 else f"{text[:100]}..."


def provide_asya_module() -> None:
    """Lets a handler import from `asya` if only this file is there. An installed package, or the user's own, wins."""
    # As importlib.util.find_spec does, which is slow to import.
    specs = (finder.find_spec("asya", None) for finder in sys.meta_path)
    found = sys.modules["asya"].__spec__ if "asya" in sys.modules else next(filter(None, specs), None)
    if found is None or found.origin is None:  # without an origin it is a folder of that name, but not a package
        module = ModuleType("asya", __doc__)
        for one in (Context, NonRetryable, RetryAfter, Route, RoutedError):
            setattr(module, one.__name__, one)
        sys.modules["asya"] = module


# ----------------------------------------------------------------------------------------------------------------------
# Handler loading
# ----------------------------------------------------------------------------------------------------------------------


def load_handler(name: str) -> Callable[..., Any]:
    """The function that `module.function` or `module.Class.method` names. Raises a StartupError if it is missing."""
    parts = name.split(".")
    if len(parts) < 2 or not all(part.isidentifier() for part in parts):
        raise StartupError(
            "the handler's name must have the form module.function or module.Class.method, "
            "for example my_module.my_func"
        )
    sys.path.insert(0, os.getcwd())
    provide_asya_module()
    owner, used = import_module(parts[0]), 1
    if owner is None:
        raise StartupError(module_not_found(parts[0]))
    while used < len(parts) - 1 and (module := import_module(".".join(parts[: used + 1]))) is not None:
        owner, used = module, used + 1
    for part in parts[used:-1]:
        owner = member_of(owner, part)
    found = member_of(owner, parts[-1])
    if isinstance(owner, type) and not isinstance(found, MethodType):
        found = getattr(create_instance(owner), parts[-1])
    if isinstance(found, type):
        raise StartupError(f'"{parts[-1]}" is a class; name one of its methods: module.Class.method')
    if not callable(found):
        raise StartupError(f'"{parts[-1]}" has type {type(found).__name__}; expected a function or method')
    return found


# Python's default is 700 new objects: when boto3 is imported, collections take a sixth of the time and find little.
COLLECT_AFTER_OBJECTS = 50_000


def load_with_few_collections(name: str) -> Callable[..., Any]:
    """As `load_handler`. Later collections do not look at what was loaded, which lives as long as the process."""
    usual = gc.get_threshold()
    gc.set_threshold(COLLECT_AFTER_OBJECTS)
    handler = load_handler(name)
    if gc.get_threshold()[0] == COLLECT_AFTER_OBJECTS:  # otherwise the handler's module has set its own
        gc.set_threshold(*usual)
    gc.freeze()
    return handler


def import_module(name: str) -> Any:
    """None if there is no module of this name. Raises a StartupError if it cannot be loaded."""
    try:
        __import__(name)
        return sys.modules[name]
    except SyntaxError as error:
        raise StartupError(f"{error.filename}:{error.lineno}: SyntaxError: {error.msg}") from error
    except ModuleNotFoundError as error:
        if error.name == name:
            return None
        text = f'an import was not found: "{name}" imports "{error.name}"; install the package, or fix the import'
        raise StartupError(text, error) from error
    except (Exception, SystemExit) as error:
        raise StartupError(f'loading "{name}" failed with {describe(error)}', error) from error


def module_not_found(name: str) -> str:
    import pkgutil

    hint = did_you_mean(name, [module.name for module in pkgutil.iter_modules([os.getcwd()])])
    return (
        f'module "{name}" was not found in {os.getcwd()} or on the Python path; '
        f"start the runtime in the module's folder, or set PYTHONPATH{hint}"
    )


def member_of(owner: Any, name: str) -> Any:
    try:
        return getattr(owner, name)
    except AttributeError:
        known = [key for key in dir(owner) if not key.startswith("_") and callable(getattr(owner, key, None))]
        title = getattr(owner, "__name__", type(owner).__name__)
        raise StartupError(f'"{title}" has no "{name}"{did_you_mean(name, known) or "; define it"}') from None


def create_instance(cls: type) -> Any:
    if required := parameters_of(cls).required:
        names = ", ".join(required)
        raise StartupError(
            f'the constructor of "{cls.__name__}" requires arguments ({names}), but is called without any; '
            "give them defaults"
        )
    try:
        return cls()
    except (Exception, SystemExit) as error:
        text = f'creating an instance of "{cls.__name__}" failed with {describe(error)}'
        raise StartupError(text, error) from error


def takes_context(handler: Callable[..., Any]) -> bool:
    """Whether the second parameter is for the Context; in `def score(payload, threshold=0.5)` it is not.

    Raises a StartupError if the handler cannot be called with a payload and at most a Context.
    """
    positional, required, is_variadic = parameters_of(handler)
    if len(required) > 2 or not set(required) <= set(positional):
        names = ", ".join(required)
        raise StartupError(
            f"the handler requires arguments ({names}), but is called with the payload and at most a context; "
            "give the others defaults"
        )
    if not positional and not is_variadic:
        raise StartupError("the handler takes no arguments, but is called with the payload; add a parameter")
    return len(required) == 2 or (len(positional) > 1 and positional[1] in ("ctx", "context"))


class Parameters(namedtuple("Parameters", ("positional", "required", "is_variadic"))):
    """The names of a function's parameters."""

    positional: list[str]
    #: Those without a default, also of keyword-only parameters.
    required: list[str]
    #: Whether there is a parameter such as `*args`.
    is_variadic: bool


def parameters_of(function: Callable[..., Any]) -> Parameters:
    """Reads a function's code if it can, because `inspect` takes longer to import than all else that a start needs."""
    found, bound = plain_function_of(function)
    return inspected_parameters(function) if found is None else parameters_of_code(found, bound)


def plain_function_of(function: Any) -> tuple[FunctionType | None, int]:
    """The function that defines the parameters, as `inspect.signature` finds it, and how many of them are bound.

    None for everything that is not a function, a method, a decorated one, or a simple class.
    """
    bound = 0
    if type(function) is type and getattr(function, "__new__") is object.__new__:
        function, bound = getattr(function, "__init__"), 1
        if function is object.__init__:
            return no_constructor, 1
    for _ in range(100):  # wrappers of wrappers; a circle is left to `inspect`
        if hasattr(function, "__signature__"):
            break
        if isinstance(function, MethodType):
            function, bound = function.__func__, bound + 1
        elif hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        elif isinstance(function, FunctionType):
            return function, bound
        else:
            break
    return None, 0


def no_constructor(self: Any) -> None:
    """The constructor of a class that does not define one."""


CO_VARARGS = 0x04


def parameters_of_code(function: FunctionType, bound: int) -> Parameters:
    code = function.__code__
    positional = code.co_varnames[: code.co_argcount]
    keywords = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    required = positional[: len(positional) - len(function.__defaults__ or ())][bound:]
    needed = [name for name in keywords if name not in (function.__kwdefaults__ or {})]
    return Parameters([*positional[bound:]], [*required, *needed], bool(code.co_flags & CO_VARARGS))


def inspected_parameters(function: Callable[..., Any]) -> Parameters:
    import inspect

    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:  # some built-in functions have no signature
        return Parameters(["payload"], ["payload"], False)
    positional = [one.name for one in parameters if one.kind.name.startswith("POSITIONAL_")]
    required = [one.name for one in parameters if one.default is one.empty and not one.kind.name.startswith("VAR_")]
    return Parameters(positional, required, any(one.kind is one.VAR_POSITIONAL for one in parameters))


def did_you_mean(typed: str, names: list[str]) -> str:
    """A hint such as `; did you mean "score"?`. Empty if `names` is empty."""
    import difflib

    return "".join(f'; did you mean "{word}"?' for word in difflib.get_close_matches(typed, names, 1, 0.0))


# ----------------------------------------------------------------------------------------------------------------------
# Calling: from a request to a reply
# ----------------------------------------------------------------------------------------------------------------------


class Reply(namedtuple("Reply", ("status", "body", "headers"), defaults=((),))):
    """What the runtime answers. Over the socket only the body is sent."""

    #: As in HTTP: 200 a result, 204 no result, 400 a bad request, 500 the handler failed.
    status: int
    body: bytes
    headers: tuple[tuple[str, str], ...]


class HandlerHost:
    """Answers requests with one handler, for every protocol, and counts the calls in flight."""

    def __init__(self, handler: Callable[..., Any], settings: Settings) -> None:
        self.handler, self.takes_context, self.settings = handler, takes_context(handler), settings
        self.loop = EventLoop()
        self.changed = threading.Condition()
        self.in_flight, self.is_closing = 0, False

    def begin(self) -> bool:
        """Counts a call; False if the host is closing, and the call must not be made. Pair it with `finish`."""
        with self.changed:
            self.in_flight += not self.is_closing
            return not self.is_closing

    def finish(self) -> None:
        with self.changed:
            self.in_flight -= 1
            self.changed.notify_all()

    def close(self, grace_s: float) -> bool:
        """Stops accepting calls. False if calls are still in flight after the grace period."""
        with self.changed:
            self.is_closing = True
            return self.changed.wait_for(lambda: self.in_flight == 0, grace_s)

    def answer(self, body: bytes, http_headers: Mapping[str, str] | None) -> Reply:
        """Answers in one of the older protocols. Never raises: a failure becomes an error reply.

        `http_headers` is None over the socket.
        """
        try:
            request = decode(body, "body")
            if self.settings.is_envelope:
                return self.answer_envelope(request)
            problems = {"headers": HEADERS_NEED, **({"route": ROUTE_NEEDS} if http_headers is None else {})}
            context = context_from_http(http_headers or {}, Call(self, problems))
            items: list[Any] = []
            value, is_generator = self.run(request, context, items.append)
            if is_generator:
                value = items or None
            if value is None:
                return Reply(204, b"null")
            return Reply(200, encode(value), route_header(context))
        except BaseException as error:
            return reply_from_error(error)

    def answer_envelope(self, request: Any) -> Reply:
        """The value is `{"frames": [...]}`, one frame for each result."""
        payload, context = payload_and_context_from_envelope(request, Call(self, {}))
        frames: list[Any] = []

        def add(value: Any) -> None:
            frames.append(envelope_frame(value, context))

        value, is_generator = self.run(payload, context, add)
        if not is_generator and value is not None:
            # In the payload protocol the sidecar splits a list; in the envelope protocol this runtime does.
            is_many = self.settings.is_fan_out and isinstance(value, (list, tuple))
            for item in value if is_many else [value]:
                add(item)
        return Reply(200, encode({"frames": frames})) if frames else Reply(204, b"null")

    def answer_pair(self, head: Any, body: bytes, call: PairCall) -> None:
        """Answers in the `asya:` protocol. Raises an OSError if the connection is lost."""
        try:
            context = context_from_head(head, call)

            def send_item(item: Any) -> None:
                call.send(call.head("item", context), encode(item))
                call.require_interest()

            value, _ = self.run(decode(body, "body"), context, send_item)
            answer = (call.head("end"), b"") if value is None else (call.head("end", context), encode(value))
        except BaseException as error:
            answer = call.head("error"), reply_from_error(error).body
        call.end(*answer)

    def run(self, payload: Any, context: Context, on_item: Callable[[Any], None]) -> tuple[Any, bool]:
        """Calls the handler. Returns its value and False, or passes each item of its generator on: None and True."""
        try:
            value = self.handler(payload, context) if self.takes_context else self.handler(payload)
            if is_awaitable(value):
                value = self.loop.run(value)
            if isinstance(value, GeneratorType):
                for item in value:
                    on_item(item)
            elif isinstance(value, AsyncGeneratorType):
                self.loop.run(pass_on(value, on_item))
            else:
                return value, False
            return None, True
        finally:
            context._call.is_over = True


CO_ITERABLE_COROUTINE = 0x100


def is_awaitable(value: Any) -> bool:
    """As `inspect.isawaitable`, which also knows the generators of `types.coroutine`."""
    if isinstance(value, GeneratorType):
        return bool(value.gi_code.co_flags & CO_ITERABLE_COROUTINE)
    return hasattr(type(value), "__await__")


async def pass_on(generator: Any, on_item: Callable[[Any], None]) -> None:
    try:
        async for item in generator:
            on_item(item)
    finally:
        await generator.aclose()


def reply_from_error(error: BaseException) -> Reply:
    if isinstance(error, SystemExit):
        log(f"the handler called sys.exit({error.code!r})")
        sys.stdout.flush()
        os._exit(error.code if isinstance(error.code, int) else int(error.code is not None))
    if isinstance(error, BadRequest):
        return Reply(400, error_body(error, error.code))
    return Reply(500, error_body(error))


class EventLoop:
    """One loop for all async calls, so that a client created during one call can be used in the next."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.loop: Any = None

    def run(self, awaitable: Awaitable[Any]) -> Any:
        import asyncio  # takes longer to import than everything else, and many handlers do not need it

        values: list[Any] = []
        errors: list[BaseException] = []
        tasks: list[asyncio.Task[None]] = []  # the loop itself does not keep its tasks alive
        running = threading.Lock()

        async def guarded() -> None:
            try:
                values.append(await awaitable)
            except BaseException as error:  # a SystemExit, for example, would end the loop for all calls
                errors.append(error)
            finally:
                running.release()

        with self.lock:
            if self.loop is None:
                self.loop = asyncio.new_event_loop()
                threading.Thread(target=self.loop.run_forever, daemon=True).start()
        running.acquire()
        # A third less CPU than asyncio.run_coroutine_threadsafe, which connects two futures.
        self.loop.call_soon_threadsafe(lambda: tasks.append(self.loop.create_task(guarded())))
        running.acquire()
        if errors:
            raise errors[0]
        return values[0]


def context_from_head(head: Any, call: Call) -> Context:
    """Raises a BadRequest if the head is not one of a request."""
    try:
        if isinstance(head["id"], str) and is_route(head["route"]):
            return Context(head, call)
    except (KeyError, TypeError, ValueError, AttributeError):
        pass
    raise BadRequest("the head of the call has no id or no route with prev, curr and next")


def is_route(route: Any) -> bool:
    is_shaped = isinstance(route["curr"], str) and all(isinstance(route[key], list) for key in ("prev", "next"))
    return is_shaped and all(isinstance(name, str) for name in route["next"])


def context_from_http(http_headers: Mapping[str, str], call: Call) -> Context:
    headers = {key.lower(): text for key, text in http_headers.items()}
    attempt = headers.get("x-asya-attempt", "")
    head = {
        "id": headers.get("x-asya-envelope-id"),
        "attempt": int(attempt) if re.fullmatch("[0-9]{1,9}", attempt) else None,
        "deadline": headers.get("x-asya-deadline"),
        "traceparent": headers.get("traceparent"),
        "tracestate": headers.get("tracestate"),
    }
    return Context(head, call)


def payload_and_context_from_envelope(value: Any, call: Call) -> tuple[Any, Context]:
    """Raises a BadRequest if the value is not an envelope."""
    try:
        route, status, headers = value["route"], value.get("status") or {}, value.get("headers") or {}
        if is_route(route):
            head = {
                "id": value.get("id"),
                "parent_id": value.get("parent_id"),
                "actor": route["curr"],
                "hop": len(route["prev"]),
                "attempt": status.get("attempt"),
                "max_attempts": status.get("max_attempts"),
                "deadline": status.get("deadline_at"),
                "route": route,
                "headers": headers,
                "error": status.get("cause"),
                "traceparent": headers.get("traceparent"),
                "tracestate": headers.get("tracestate"),
            }
            return value["payload"], Context(head, call)
    except (KeyError, TypeError, ValueError, AttributeError):
        pass
    raise BadRequest(
        "the request body is not an envelope, which ASYA_RUNTIME_PROTOCOL=envelope requires: "
        "it needs a payload and a route with prev, curr and next"
    )


def route_header(context: Context) -> tuple[tuple[str, str], ...]:
    """The HTTP header that carries a changed route in the payload protocol."""
    if not context._is_route_set:
        return ()
    names = context.route.next
    if not all(re.fullmatch(r"[!-+\--~]+", name) for name in names):  # printable ASCII without the comma between names
        raise ValueError(f"the handler set the route to {shown(list(names))}; expected a list of actor names")
    return (("x-asya-route-next", ",".join(names)),)


def envelope_frame(payload: Any, context: Context) -> dict[str, Any]:
    """Reads the context at each yield, so that a handler can send each item along its own route."""
    prev, curr, names = context.route
    shifted = {"prev": [*prev, curr], "curr": (names or ("",))[0], "next": list(names[1:])}
    changed = {"headers": dict(context.headers)} if context._is_header_set else {}
    return {"payload": payload, "route": shifted, **changed}


def refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a JSON value")


DECODER = json.JSONDecoder(parse_constant=refuse_constant)


def decode(body: bytes, part: str) -> Any:
    """Raises a BadRequest if this part of the request is not JSON in UTF-8."""
    try:
        return DECODER.decode(body.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        text = f"the request {part} ({len(body)} bytes) is not JSON: {error}; send one JSON value encoded as UTF-8"
        raise BadRequest(text) from None


class Unserializable(Exception):
    """Never leaves `encode`."""


def refuse_value(value: Any) -> NoReturn:
    raise Unserializable(type_name(type(value)))


ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=refuse_value)


def encode(value: Any, what: str = "the handler's result") -> bytes:
    """Raises a ResultNotSerializable if JSON cannot represent the value."""
    try:
        # A lone surrogate has no UTF-8; as a backslash escape it is valid JSON.
        return ENCODER.encode(value).encode("utf-8", "backslashreplace")
    except Unserializable as error:
        text = f"{what} contains a {error}, which JSON cannot represent; "
        raise ResultNotSerializable(text + "use dicts, lists, strings, numbers, booleans or None") from None
    except (TypeError, ValueError, RecursionError) as error:
        is_nan = "Out of range" in str(error)
        reason = "it contains NaN or Infinity; use None or a string instead" if is_nan else str(error)
        raise ResultNotSerializable(f"{what} cannot be encoded as JSON: {reason}") from None


# ----------------------------------------------------------------------------------------------------------------------
# Errors: a raised exception as the sidecar reads it
# ----------------------------------------------------------------------------------------------------------------------

# Where common HTTP clients store the status, the retry delay and the headers of a failed request.
STATUS_PATHS = (
    "status_code status http_status response.status_code response.status code statusCode response.statusCode "
    "$metadata.httpStatusCode response.ResponseMetadata.HTTPStatusCode"
).split()
RETRY_AFTER_PATHS = "retry_after retryAfter response.retry_after response.retryAfter".split()
HEADERS_PATHS = "response.headers headers response.ResponseMetadata.HTTPHeaders".split()


class BadRequest(Exception):
    """The request does not follow the protocol. The class name is the error's type in the mesh."""

    def __init__(self, text: str, code: str = "bad_request") -> None:
        super().__init__(text)
        self.code = code


class ResultNotSerializable(TypeError):
    """A result, header or progress that JSON cannot represent. The class name is the error's type in the mesh."""


def error_body(error: BaseException, code: str = "processing_error") -> bytes:
    """The error object. Retry rules match on `type`, `mro` and `http_status`."""
    chain = with_causes(error)
    statuses = (value_at(one, path) for one in chain for path in STATUS_PATHS)
    delays = [value_at(one, path) for one in chain for path in RETRY_AFTER_PATHS]
    delays += [retry_after_in(value_at(one, path)) for one in chain for path in HEADERS_PATHS]
    fields: dict[str, Any] = {
        "error": code,
        "message": message_of(error),
        "type": type_name(type(error)),
        "mro": [type_name(cls) for cls in type(error).__mro__],
        "traceback": user_traceback(error),
        "http_status": next((int(one) for one in statuses if isinstance(one, int) and 100 <= one <= 599), None),
        "retry_after": next((one for one in delays if is_delay(one)), None),
    }
    return encode({key: value for key, value in fields.items() if value is not None})


def type_name(cls: type) -> str:
    return cls.__qualname__ if cls.__module__ in ("builtins", __name__) else f"{cls.__module__}.{cls.__qualname__}"


def message_of(error: BaseException) -> str:
    try:
        return str(error) or repr(error)
    except Exception:
        return "(the message cannot be printed)"


def describe(error: BaseException) -> str:
    return f"{type_name(type(error))}: {message_of(error)}"


def user_traceback(error: BaseException) -> str:
    """The traceback as Python prints it, without the runtime's own frames above the user's code."""
    import traceback

    own_files = (main.__code__.co_filename, json.encoder.__file__, "<frozen importlib")
    frames = error.__traceback__
    while frames and frames.tb_frame.f_code.co_filename.startswith(own_files):
        frames = frames.tb_next
    return "".join(traceback.format_exception(type(error), error, frames))


def with_causes(error: BaseException) -> list[BaseException]:
    chain = [error]
    while chain[-1].__cause__ is not None and not any(one is chain[-1].__cause__ for one in chain):
        chain.append(chain[-1].__cause__)
    return chain


def value_at(source: Any, path: str) -> Any:
    """The value at a dotted path, such as `response.status`. None if a part is missing or a property raises."""
    for name in path.split("."):
        try:
            source = source.get(name) if isinstance(source, Mapping) else getattr(source, name, None)
        except Exception:
            return None  # reading an error's properties must never replace that error
    return source


def retry_after_in(headers: Any) -> Any:
    try:
        pairs = headers.items() if hasattr(headers, "items") else [("retry-after", headers.get("Retry-After"))]
        return next((value for key, value in pairs if str(key).lower() == "retry-after"), None)
    except Exception:
        return None


def is_delay(value: Any) -> bool:
    return isinstance(value, str) or (type(value) in (int, float) and -INFINITY < value < INFINITY)


# ----------------------------------------------------------------------------------------------------------------------
# Server: what both protocols share
# ----------------------------------------------------------------------------------------------------------------------


def server_at(endpoint: Endpoint, host: HandlerHost) -> socketserver.TCPServer:
    """Accepts connections on a Unix socket or a TCP port, and serves each one in its own thread."""
    import socket
    import socketserver

    is_unix = isinstance(endpoint.address, str)
    tcp_family = socket.AF_INET6 if ":" in endpoint.address[0] else socket.AF_INET

    class ThreadingServer(socketserver.ThreadingMixIn, socketserver.TCPServer):
        address_family = socket.AF_UNIX if is_unix else tcp_family
        daemon_threads = True
        block_on_close = False
        allow_reuse_address = True
        request_queue_size = 128

        def handle_error(self, request: Any, client_address: Any) -> None:
            if not isinstance(sys.exc_info()[1], OSError):
                log_internal_error()
            elif IS_DEBUG:
                log(f"a connection was lost: {sys.exc_info()[1]}")

    def serve(connection: socket.socket, *_: Any) -> None:
        (AsyaConnection if endpoint.scheme == "asya" else SocketConnection)(connection, host)

    handler: Any = http_connection(endpoint.path, host) if endpoint.scheme == "http" else serve
    return ThreadingServer(endpoint.address, handler)  # type: ignore[arg-type]


def log_internal_error() -> None:
    import traceback

    log("internal error in the runtime:\n" + traceback.format_exc())


def listen(endpoint: Endpoint, host: HandlerHost) -> socketserver.TCPServer:
    """Raises a StartupError if the runtime cannot listen at its URL."""
    try:
        if isinstance(endpoint.address, str):
            prepare_socket_path(endpoint.address)
        return server_at(endpoint, host)
    except (OSError, OverflowError) as error:
        text = f"cannot listen at {endpoint.url}: {error}; set ASYA_RUNTIME_URL to a free address"
        raise StartupError(text) from error


def prepare_socket_path(path: str) -> None:
    """Creates the folder and removes a stale socket file, which remains after a process was killed.

    Raises a StartupError if another process listens there, or if the path is not a socket.
    """
    import socket

    # A sidecar creates the folder itself. If it is missing, the mesh has ended and removed it.
    if os.environ.get("ASYA_PARENT_PIPE") != "1":
        os.makedirs(os.path.dirname(path), exist_ok=True)
    try:
        if not stat.S_ISSOCK(os.lstat(path).st_mode):
            raise StartupError(
                f"{path} exists and is not a socket; remove it, or set ASYA_SOCKET_PATH to another path"
            )
        with socket.socket(socket.AF_UNIX) as probe:
            probe.settimeout(1)
            probe.connect(path)
    except FileNotFoundError:
        return
    except ConnectionRefusedError:
        return os.unlink(path)
    raise StartupError(f"another process listens at {path}; stop it, or set ASYA_SOCKET_PATH to another path")


# ----------------------------------------------------------------------------------------------------------------------
# Socket protocol
# ----------------------------------------------------------------------------------------------------------------------


class SocketConnection:
    """One frame is a call, one frame is its answer, one call at a time on each connection.

    A frame is a 4-byte big-endian length, then that many bytes of JSON.
    """

    def __init__(self, connection: socket.socket, host: HandlerHost) -> None:
        with connection.makefile("rb") as self.rfile:
            while (body := self.read_frame(host.settings.max_request_bytes)) is not None:
                if not host.begin():
                    return
                try:
                    answer = host.answer(body, None).body
                    connection.sendall(len(answer).to_bytes(4, "big") + answer)
                finally:
                    host.finish()

    def read_frame(self, max_bytes: int) -> bytes | None:
        """None if the connection ended, or has to be closed because of its last frame."""
        head = self.rfile.read(4)
        if not head:
            return None
        size = int.from_bytes(head, "big") if len(head) == 4 else -1
        if size > max_bytes:
            log(
                f"closed a connection: a frame of {size} bytes is larger than "
                f"ASYA_RUNTIME_MAX_REQUEST ({max_bytes} bytes)"
            )
            return None
        body = self.rfile.read(max(size, 0))
        if len(body) != size:
            log("a connection ended in the middle of a frame")
            return None
        return body


# ----------------------------------------------------------------------------------------------------------------------
# asya: protocol
# ----------------------------------------------------------------------------------------------------------------------

RECEIVE_BYTES = 16 * 1024


class AsyaConnection:
    """Frames as in the socket protocol, in pairs of a head (JSON) and a body. One call at a time on each connection.

    A request's body is the payload. Its answer is any number of `progress` and `item` pairs, then one `end` or `error`.
    A `cancel` pair may arrive during the call.
    """

    def __init__(self, connection: socket.socket, host: HandlerHost) -> None:
        pairs = PairReader(connection, host.settings.max_request_bytes)
        while (pair := pairs.read()) is not None:
            head, body = pair
            if is_cancel(head, body):
                continue  # it arrived after the end of its call
            if not host.begin():
                return
            try:
                self.answer(head, body, AsyaCall(connection, pairs, host))
            finally:
                host.finish()

    def answer(self, head: bytes, body: bytes, call: AsyaCall) -> None:
        try:
            fields = decode(head, "head")
        except BadRequest as error:
            call.end(call.head("error"), error_body(error, error.code))
        else:
            call.host.answer_pair(fields, body, call)


class PairReader:
    """Reads pairs of frames: waits for the next one between calls, and looks for one during a call."""

    def __init__(self, connection: socket.socket, max_bytes: int) -> None:
        from socket import MSG_DONTWAIT

        self.connection, self.max_bytes, self.without_waiting = connection, max_bytes, MSG_DONTWAIT
        self.arrived = bytearray()
        self.early: list[tuple[bytes, bytes]] = []
        self.has_ended = False

    def read(self) -> tuple[bytes, bytes] | None:
        """None if the connection ended, or has to be closed because of its last frame."""
        if self.early:
            return self.early.pop(0)
        while (pair := self.take()) is None and not self.has_ended:
            self.receive(is_waiting=True)
        return pair

    def look_for_cancel(self) -> bool:
        """Whether a `cancel` pair has arrived, or the connection has ended. Keeps a request that came too early."""
        try:
            while not self.has_ended:
                # Before receiving: it may have arrived together with the call.
                while (pair := self.take()) is not None:
                    if is_cancel(*pair):
                        return True
                    self.early.append(pair)
                self.receive(is_waiting=False)
        except BlockingIOError:
            return False
        except OSError:
            self.has_ended = True
        return True

    def receive(self, is_waiting: bool) -> None:
        chunk = self.connection.recv(max(RECEIVE_BYTES, self.missing()), 0 if is_waiting else self.without_waiting)
        self.arrived += chunk
        if not chunk:
            self.has_ended = True
            if self.arrived:
                log("a connection ended in the middle of a frame")

    def missing(self) -> int:
        """How many bytes of the current frame have not arrived, as far as known, but at most 1 MiB."""
        size = self.size_at(0)
        if size is not None and len(self.arrived) >= 4 + size:
            body = self.size_at(4 + size)
            size += 4 + body if body is not None else 4
        return min((size or 0) + 4 - len(self.arrived), 1024 * 1024)

    def size_at(self, offset: int) -> int | None:
        """The length of the frame that begins at this offset; None if it has not arrived."""
        prefix = self.arrived[offset : offset + 4]
        return int.from_bytes(prefix, "big") if len(prefix) == 4 else None

    def take(self) -> tuple[bytes, bytes] | None:
        """Removes a complete pair from what has arrived. Ends the connection if a frame is too large."""
        frames: list[bytes] = []
        offset = 0
        while len(frames) < 2:
            size = self.size_at(offset)
            if size is None:
                return None
            if size > self.max_bytes:
                log(
                    f"closed a connection: a frame of {size} bytes is larger than "
                    f"ASYA_RUNTIME_MAX_REQUEST ({self.max_bytes} bytes)"
                )
                self.has_ended = True
                return None
            if len(self.arrived) < offset + 4 + size:
                return None
            frames.append(bytes(self.arrived[offset + 4 : offset + 4 + size]))
            offset += 4 + size
        del self.arrived[:offset]
        return frames[0], frames[1]


class PairCall(Call):
    """A call whose answer is pairs. After `end`, nothing that its handler left running can write or read here."""

    def __init__(self, host: HandlerHost, identity: str = "") -> None:
        super().__init__(host, {})
        #: What each head of the answer says about its call: JSON that follows the kind.
        self.identity = identity

    def head(self, kind: str, context: Context | None = None) -> bytes:
        """Contains the route and the headers only if the handler has set them."""
        fields: dict[str, Any] = {}
        if context is not None and context._is_route_set:
            fields["next"] = context.route.next
        if context is not None and context._is_header_set:
            fields["headers"] = dict(context.headers)  # the sidecar ignores those of the mesh
        return head_of(kind, self.identity, fields)

    def require(self, what: str) -> None:
        pass

    def require_interest(self) -> None:
        """Raises a ConnectionAbortedError if the sidecar does not want the rest of the answer."""

    def report(self, fields: dict[str, Any], body: bytes) -> None:
        try:
            self.send(head_of("progress", self.identity, fields), body)
        except OSError:
            pass  # the call notices it when it sends its result

    def send(self, head: bytes, body: bytes) -> None:
        raise NotImplementedError

    def end(self, head: bytes, body: bytes) -> None:
        raise NotImplementedError


class AsyaCall(PairCall):
    """A call on a connection."""

    def __init__(self, connection: socket.socket, pairs: PairReader, host: HandlerHost) -> None:
        super().__init__(host)
        self.connection, self.pairs = connection, pairs
        self.lock = threading.Lock()
        self.was_cancelled = False

    def is_cancelled(self) -> bool:
        with self.lock:
            if not self.is_over and not self.was_cancelled:
                self.was_cancelled = self.host.is_closing or self.pairs.look_for_cancel()
            return self.is_over or self.was_cancelled

    def send(self, head: bytes, body: bytes) -> None:
        with self.lock:
            if not self.is_over:
                self.connection.sendall(pair_of(head, body))

    def end(self, head: bytes, body: bytes) -> None:
        with self.lock:
            self.is_over = True
            self.connection.sendall(pair_of(head, body))


def head_of(kind: str, identity: str = "", fields: Mapping[str, Any] | None = None) -> bytes:
    """`identity` is JSON that follows the kind, such as `,"call":7`."""
    first = f'{{"kind":"{kind}"{identity}'.encode()
    return first + (b"," + encode(fields)[1:] if fields else b"}")


def pair_of(head: bytes, body: bytes) -> bytes:
    return b"".join((len(head).to_bytes(4, "big"), head, len(body).to_bytes(4, "big"), body))


def is_cancel(head: bytes, body: bytes) -> bool:
    """Whether this is a `cancel` pair. A request's body, a JSON value, is never empty."""
    try:
        return not body and json.loads(head).get("kind") == "cancel"
    except (ValueError, AttributeError):
        return False


# ----------------------------------------------------------------------------------------------------------------------
# asya: protocol over the descriptors of the sidecar
# ----------------------------------------------------------------------------------------------------------------------

CHUNK_BYTES = 64 * 1024
MAX_CHUNK_BYTES = 1024 * 1024
# Heads may be this large even if the limit for requests is small: without its head, a call has no number.
MIN_HEAD_LIMIT = 1024 * 1024


class Channel:
    """Pairs as on an `asya:` connection, for any number of calls: each head has the number of its call.

    An idle thread reads until there is a call, and runs it, while the next idle one reads: handing each call over to
    another thread would cost as much as the rest of it. If all of them run calls, what arrives has to wait, and
    `cancelled` looks at it, as does a generator after each of its items.
    """

    def __init__(self, descriptors: Descriptors, max_bytes: int) -> None:
        self.calls_fd, self.answers_fd = descriptors.calls, descriptors.answers
        self.concurrency, self.threads = descriptors.concurrency, 0
        self.reading, self.writing = threading.Lock(), threading.Lock()
        self.arrived = select.poll()
        self.arrived.register(self.calls_fd, select.POLLIN)
        self.pairs = PairParser(max_bytes)
        #: The calls that have arrived, and not been started.
        self.waiting: list[Arrival] = []
        self.running: dict[int, ChannelCall] = {}
        #: How many `cancel` pairs have arrived. Each one is for the calls that arrived before it.
        self.cancels = 0
        os.register_at_fork(after_in_child=self.leave_to_parent)
        self.start_thread(self.exit_with_sidecar)

    def start_thread(self, run: Callable[..., None], *args: Any) -> None:
        def guarded() -> None:
            try:
                run(*args)
            except BaseException:  # without this thread the sidecar would wait forever
                log_internal_error()
                os._exit(1)

        threading.Thread(target=guarded, daemon=True).start()

    def exit_with_sidecar(self) -> NoReturn:
        """Waits for the end of the stream without reading it, also while the handler is loaded or runs."""
        ended = select.poll()
        ended.register(self.calls_fd, getattr(select, "POLLRDHUP", 0))  # POLLHUP is always reported
        ended.poll()
        os._exit(0)

    def leave_to_parent(self) -> None:
        """In a forked child, which would otherwise hide from the sidecar that this process has ended."""
        os.close(self.calls_fd)
        os.close(self.answers_fd)
        self.calls_fd = self.answers_fd = -1

    def serve(self, host: HandlerHost) -> None:
        """Tells the sidecar that the handler is loaded, and starts to read calls."""
        self.write(b'{"kind":"ready","stop":true}', b"")  # it understands `stop` pairs
        self.add_caller(host)

    def add_caller(self, host: HandlerHost) -> None:
        self.threads += 1
        self.start_thread(self.run_calls, host)

    def run_calls(self, host: HandlerHost) -> NoReturn:
        while True:
            with self.reading:  # calls start in their order
                arrival = self.next_arrival()
                may_start = self.may_start(arrival) and host.begin()
                if host.in_flight == self.threads < self.concurrency:
                    self.add_caller(host)
            if not may_start:
                self.refuse(arrival)
                continue
            call = self.running[arrival.number] = ChannelCall(self, host, arrival)
            try:
                host.answer_pair(arrival.fields, arrival.body, call)
            finally:
                del self.running[arrival.number]
                host.finish()

    def next_arrival(self) -> Arrival:
        if self.waiting:
            self.receive_what_is_there()  # a `cancel` may be behind a call
        while not self.waiting:
            self.receive()
        return self.waiting.pop(0)

    def may_start(self, arrival: Arrival) -> bool:
        return arrival.problem is None and arrival.cancels == self.cancels and not arrival.is_late()

    def look(self) -> None:
        """Takes in what has arrived, unless an idle thread reads anyway."""
        if self.calls_fd >= 0 and self.reading.acquire(blocking=False):
            try:
                self.receive_what_is_there()
            finally:
                self.reading.release()

    def receive_what_is_there(self) -> None:
        while self.arrived.poll(0):
            self.receive()

    def receive(self) -> None:
        """Waits until something arrives."""
        try:
            chunk = os.read(self.calls_fd, min(max(self.pairs.missing(), CHUNK_BYTES), MAX_CHUNK_BYTES))
        except ConnectionError:
            chunk = b""
        if not chunk:
            os._exit(0)  # the sidecar has ended
        for head, body in self.pairs.add(chunk):
            arrival = Arrival(head, body, self.cancels)
            if arrival.order == "cancel":
                self.cancels += 1
            elif arrival.order == "stop":
                if (call := self.running.get(arrival.number)) is not None:
                    call.is_unwanted = True
            else:
                self.waiting.append(arrival)

    def refuse(self, arrival: Arrival) -> None:
        """Answers a call that was not started. Its delivery is admitted anew, unless its request was bad."""
        with self.writing:
            if arrival.problem is None:
                self.write(head_of("late", arrival.identity), b"")
            else:
                self.write(head_of("error", arrival.identity), error_body(arrival.problem, arrival.problem.code))

    def write(self, head: bytes, body: bytes) -> None:
        """The caller holds the lock `writing` if other threads may write."""
        if self.answers_fd < 0:
            return  # in a forked child
        try:
            rest: bytes | memoryview = pair_of(head, body)
            while len(rest) > (sent := os.write(self.answers_fd, rest)):
                rest = memoryview(rest)[sent:]
        except ConnectionError:
            os._exit(0)  # the sidecar has ended


class Arrival:
    """A pair that has arrived over the channel: a call, or an order about calls."""

    def __init__(self, head: bytes | BadRequest, body: bytes | BadRequest, cancels: int) -> None:
        self.fields: Any = {}
        self.body, self.cancels = b"", cancels
        #: What each head of the answer says about the call; empty if its number is not known.
        self.number, self.identity = 0, ""
        #: "cancel" or "stop". A call's body, a JSON value, is never empty.
        self.order: str | None = None
        #: Why it cannot become a call.
        self.problem: BadRequest | None = None
        try:
            self.fields = decode(intact(head), "head")
            if body == b"" and isinstance(self.fields, dict):
                self.order = self.fields.get("kind")
            if self.order != "cancel":
                self.number = call_number_in(self.fields)
                self.identity = f',"call":{self.number}'
                self.body = intact(body)
        except BadRequest as problem:
            self.problem = problem

    def is_late(self) -> bool:
        start_by = self.fields.get("start_by")
        return is_number(start_by) and time.time() * 1000 > start_by


def intact(frame: bytes | BadRequest) -> bytes:
    """Raises the BadRequest that takes the place of a frame that is too large."""
    if isinstance(frame, BadRequest):
        raise frame
    return frame


def call_number_in(fields: Any) -> int:
    number = fields.get("call") if isinstance(fields, dict) else None
    if not isinstance(number, int):
        raise BadRequest(f'the head of the call has {shown(number)} as "call"; expected a whole number')
    return number


class PairParser:
    """Finds the pairs in what arrives, in pieces of any size."""

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        #: What has arrived of an incomplete frame, and how many bytes it needs to go on.
        self.pieces: list[bytes] = []
        self.size, self.needed = 0, 4
        #: How many bytes of a frame that is too large have not arrived, and what takes its place.
        self.skipping, self.too_large = 0, BadRequest("")
        #: The first frame of an incomplete pair.
        self.head: bytes | BadRequest | None = None

    def missing(self) -> int:
        return self.needed - self.size

    def add(self, piece: bytes) -> list[tuple[bytes | BadRequest, bytes | BadRequest]]:
        """The pairs that are complete. A BadRequest takes the place of a frame that is too large."""
        self.pieces.append(piece)
        self.size += len(piece)
        if self.size < self.needed:
            return []
        data, at, pairs = b"".join(self.pieces), 0, []
        while True:
            frame: bytes | BadRequest
            if self.skipping > 0:
                skipped = min(self.skipping, len(data) - at)
                at, self.skipping, frame = at + skipped, self.skipping - skipped, self.too_large
                if self.skipping > 0:
                    self.needed = 1
                    break
            elif len(data) - at < 4:
                self.needed = 4
                break
            else:
                size = int.from_bytes(data[at : at + 4], "big")
                limit = max(self.max_bytes, MIN_HEAD_LIMIT) if self.head is None else self.max_bytes
                if size > limit:
                    at, self.skipping, self.too_large = at + 4, size, too_large(size, limit)
                    continue
                self.needed = 4 + size
                if len(data) - at < self.needed:
                    break
                frame, at = data[at + 4 : at + self.needed], at + self.needed
            if self.head is None:
                self.head = frame
            else:
                pairs.append((self.head, frame))
                self.head = None
        self.pieces, self.size = [data[at:]], len(data) - at
        return pairs


def too_large(size: int, max_bytes: int) -> BadRequest:
    text = f"a frame of {size} bytes is larger than ASYA_RUNTIME_MAX_REQUEST ({max_bytes} bytes)"
    return BadRequest(text, "too_large")


class ChannelCall(PairCall):
    """A call over the channel."""

    def __init__(self, channel: Channel, host: HandlerHost, arrival: Arrival) -> None:
        super().__init__(host, arrival.identity)
        self.channel, self.cancels, self.is_unwanted = channel, arrival.cancels, False

    def is_cancelled(self) -> bool:
        if self.is_over or self.host.is_closing:
            return True
        self.channel.look()
        return self.channel.cancels > self.cancels

    def require_interest(self) -> None:
        self.channel.look()
        if self.is_unwanted:
            raise ConnectionAbortedError("the sidecar does not want the rest of the answer")

    def send(self, head: bytes, body: bytes) -> None:
        with self.channel.writing:
            if not self.is_over:
                self.channel.write(head, body)

    def end(self, head: bytes, body: bytes) -> None:
        with self.channel.writing:
            self.is_over = True
            self.channel.write(head, body)


# ----------------------------------------------------------------------------------------------------------------------
# HTTP protocol
# ----------------------------------------------------------------------------------------------------------------------

CLOSE = ("Connection", "close")


def http_connection(path: str, host: HandlerHost) -> type[socketserver.BaseRequestHandler]:
    """`POST` to the handler's path is a call, `GET /healthz` is the readiness check."""
    from http.server import BaseHTTPRequestHandler  # slow to import, and the socket protocol does not need it
    from urllib.parse import urlsplit

    settings = host.settings

    class HttpConnection(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            self.disable_nagle_algorithm = isinstance(self.client_address, tuple)
            super().setup()

        def log_message(self, format: str, *args: Any) -> None:
            if IS_DEBUG:
                log(format % args)

        def serve(self) -> None:
            requested = urlsplit(self.path).path
            methods = {"/healthz": "GET", path: "POST"}
            length = self.headers.get("Content-Length", "" if "Transfer-Encoding" in self.headers else "0")
            if not length.isdecimal():
                return self.refuse(411, "length_required", "the request needs a Content-Length header", CLOSE)
            if int(length) > settings.max_request_bytes:
                limit = f"ASYA_RUNTIME_MAX_REQUEST ({settings.max_request_bytes} bytes)"
                text = f"the request body of {length} bytes is larger than {limit}"
                return self.refuse(413, "too_large", text, CLOSE)
            body = self.rfile.read(int(length))
            if requested not in methods:
                return self.refuse(404, "not_found", f"no such path: {requested}; the handler is at {path}")
            if self.command != methods[requested]:
                text = f"{requested} accepts {methods[requested]}, not {self.command}"
                return self.refuse(405, "method_not_allowed", text, ("Allow", methods[requested]))
            if self.command == "GET":
                return self.reply(Reply(200, b'{"status":"ready"}'))
            if not host.begin():
                return self.refuse(503, "stopping", "the runtime is stopping; send the request again", CLOSE)
            try:
                return self.reply(host.answer(body, self.headers))
            finally:
                host.finish()

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = serve

        def refuse(self, status: int, code: str, text: str, *headers: tuple[str, str]) -> None:
            self.reply(Reply(status, error_body(BadRequest(text, code), code), headers))

        def reply(self, reply: Reply) -> None:
            has_body = reply.status != 204
            length = (("Content-Type", "application/json"), ("Content-Length", str(len(reply.body))))
            self.send_response_only(reply.status)
            for key, text in (*reply.headers, *(length if has_body else ())):
                self.send_header(key, text)  # "Connection: close" also makes the base class close the connection
            self.end_headers()
            if has_body and self.command != "HEAD":
                self.wfile.write(reply.body)

    return HttpConnection


# ----------------------------------------------------------------------------------------------------------------------
# Lifecycle: signals, shutdown, and the end of the parent
# ----------------------------------------------------------------------------------------------------------------------

STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)


def watch_parent() -> None:
    """With ASYA_PARENT_PIPE=1 the sidecar holds the other end of stdin: the runtime ends when the sidecar ends."""
    if not stat.S_ISFIFO(os.fstat(0).st_mode) and not stat.S_ISSOCK(os.fstat(0).st_mode):
        raise StartupError("ASYA_PARENT_PIPE is 1, but stdin is not a pipe; unset it, or connect stdin to a pipe")

    pipe = os.dup(0)  # so that a handler can close its stdin without ending the runtime

    def wait_for_end() -> None:
        while select.select([pipe], [], []) and os.read(pipe, 4096):
            pass
        os._exit(0)

    threading.Thread(target=wait_for_end, daemon=True).start()
    if sys.platform == "linux":  # the thread above cannot run while native code holds the interpreter's lock
        try:
            import ctypes

            ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
        except (ImportError, OSError, AttributeError):
            pass


def on_stop_signal(*_: Any) -> NoReturn:
    """Ends what the main thread does. Ignores further signals, which would otherwise interrupt the shutdown."""
    for number in STOP_SIGNALS:
        signal.signal(number, lambda *_: None)
    raise KeyboardInterrupt


def wait_for_signals() -> NoReturn:
    """Lets signal handlers run. Without the pipe, a signal that arrives just before the wait would not end it."""
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    while True:
        os.read(woken, 4096)


def stop(host: HandlerHost) -> None:
    """Finishes the calls in flight, at most for the grace period."""
    for number in STOP_SIGNALS:  # unlike a function, SIG_IGN stays in place while the interpreter exits
        signal.signal(number, signal.SIG_IGN)
    if not host.close(SHUTDOWN_GRACE_S):
        log(f"exiting after {SHUTDOWN_GRACE_S:g} s with unfinished calls: {host.in_flight}")
        os._exit(0)
    # Exit handlers run as usual, but a thread that never ends must not keep the process alive.
    guard = threading.Timer(SHUTDOWN_GRACE_S, os._exit, (0,))
    guard.daemon = True
    guard.start()


# ----------------------------------------------------------------------------------------------------------------------
# Main
# ----------------------------------------------------------------------------------------------------------------------


def main() -> int:
    """Loads the handler and serves until a stop signal. Returns the exit status."""
    if sys.stdout is not None:
        sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    name = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("ASYA_HANDLER", "")
    try:
        serve = prepare()
    except StartupError as error:
        log(f'cannot host "{name}": {error}')
        if IS_DEBUG:
            import traceback

            traceback.print_exc()
        elif error.user_error is not None:
            sys.stderr.write(user_traceback(error.user_error))
        return 1
    serve()
    return 0


def prepare() -> Callable[[], None]:
    """Loads the handler, and returns what serves its calls until a stop signal."""
    name = handler_name_from(os.environ, sys.argv[1:])
    settings = settings_from(os.environ)
    if os.environ.get("ASYA_PARENT_PIPE") == "1":
        watch_parent()
    if (descriptors := descriptors_from(os.environ, settings)) is not None:
        channel = Channel(descriptors, settings.max_request_bytes)
        host = HandlerHost(load_with_few_collections(name), settings)
        return lambda: serve_channel(channel, host)
    endpoint = endpoint_from(os.environ, settings)
    host = HandlerHost(load_with_few_collections(name), settings)
    server = listen(endpoint, host)
    return lambda: serve_endpoint(name, endpoint, server, host)


def serve_channel(channel: Channel, host: HandlerHost) -> None:
    try:
        for number in STOP_SIGNALS:
            signal.signal(number, on_stop_signal)
        channel.serve(host)
        wait_for_signals()
    except KeyboardInterrupt:
        pass  # raised by on_stop_signal
    stop(host)


def serve_endpoint(name: str, endpoint: Endpoint, server: socketserver.TCPServer, host: HandlerHost) -> None:
    try:
        for number in STOP_SIGNALS:
            signal.signal(number, on_stop_signal)
        port = "" if isinstance(endpoint.address, str) else f" (port {server.server_address[1]})"
        log(f"{name} is ready at {endpoint.url}{port}")
        server.serve_forever()
    except KeyboardInterrupt:
        pass  # raised by on_stop_signal
    server.server_close()
    if isinstance(endpoint.address, str) and os.path.exists(endpoint.address):
        os.unlink(endpoint.address)
    stop(host)


if __name__ == "__main__":
    sys.exit(main())
