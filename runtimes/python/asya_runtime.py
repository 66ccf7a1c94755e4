"""Hosts one handler for the asya sidecar. Needs Python 3.9 or later and only the standard library.

    python3 asya_runtime.py my_module.my_func        (or my_module.MyClass.my_method, or ASYA_HANDLER)

A handler takes the payload, and a Context if its second parameter has no default or is named `ctx` or `context`. Its
result is sent to the next actor; None ends the route; each `yield` is one item of a fan-out. It may be async.

Each connection has its own thread, which runs the handler for the calls on it. Async handlers share one event loop.
"""

from __future__ import annotations

import importlib.util
import inspect
import json
import math
import os
import re
import select
import signal
import socket
import socketserver
import stat
import sys
import threading
import traceback
from dataclasses import dataclass, field
from typing import Any, Awaitable, Callable, Mapping, NamedTuple, NoReturn
from urllib.parse import urlsplit

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


class Settings(NamedTuple):
    #: The handler's name as the user wrote it, such as my_module.my_func.
    handler: str
    url: str
    is_http: bool
    #: The path of a Unix socket, or host and port.
    address: str | tuple[str, int]
    #: The HTTP path of the handler; empty for the socket protocol.
    path: str
    #: Whether a request is the whole envelope (ASYA_RUNTIME_PROTOCOL=envelope) or its payload only.
    is_envelope: bool
    #: Whether a list is one result per item. Default: True, unless ASYA_FANOUT=never.
    is_fan_out: bool
    #: The largest request body, in bytes. Default: 16 MiB.
    max_request_bytes: int


def settings_from(env: Mapping[str, str], arguments: list[str]) -> Settings:
    """Reads the command line and the environment. Raises a StartupError at the first invalid value."""
    name = arguments[0] if arguments else env.get("ASYA_HANDLER", "")
    example = "for example my_module.my_func"
    if len(arguments) > 1:
        raise StartupError(f"expected one argument, the handler's name ({example}), but received {len(arguments)}")
    if not name:
        raise StartupError(f"no handler name: pass it as the argument ({example}), or set ASYA_HANDLER")
    protocol = env.get("ASYA_RUNTIME_PROTOCOL") or "payload"
    if protocol not in ("payload", "envelope"):
        raise StartupError(f'ASYA_RUNTIME_PROTOCOL is "{protocol}"; expected "payload" or "envelope"')
    limit = env.get("ASYA_RUNTIME_MAX_REQUEST") or DEFAULT_MAX_REQUEST
    if not re.fullmatch("[1-9][0-9]{0,14}", limit):
        raise StartupError(f'ASYA_RUNTIME_MAX_REQUEST is "{limit}"; expected a whole number of bytes above 0')
    url = env.get("ASYA_RUNTIME_URL") or "unix:" + (env.get("ASYA_SOCKET_PATH") or "/tmp/sockets/app.sock")
    is_fan_out = env.get("ASYA_FANOUT") != "never"
    return Settings(name, url, *endpoint_from_url(url), protocol == "envelope", is_fan_out, int(limit))


def endpoint_from_url(url: str) -> tuple[bool, str | tuple[str, int], str]:
    """The settings `is_http`, `address` and `path`."""
    if found := re.fullmatch(r"unix:(.+)", url):
        return False, os.path.abspath(found[1]), ""
    if found := re.fullmatch(r"http\+unix:([^:]+):?(/.*)?", url):
        return True, os.path.abspath(found[1]), found[2] or "/"
    if found := re.fullmatch(r"http://(\[[0-9a-fA-F:.]+\]|[^\[\]/:?#@]+)(?::([0-9]{1,5}))?(/[^?#]*)?", url):
        return True, (found[1].strip("[]"), int(found[2] or 80)), found[3] or "/"
    raise StartupError(
        f'ASYA_RUNTIME_URL is "{url}"; expected a URL such as unix:/tmp/sockets/app.sock, '
        "http://127.0.0.1:8080/invoke or http+unix:/tmp/sockets/app.sock:/invoke"
    )


def log(text: str) -> None:
    print(f"asya-runtime: {text}", file=sys.stderr, flush=True)


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
    owner, used = import_module(parts[0]), 1
    while used < len(parts) - 1 and has_module(".".join(parts[: used + 1])):
        used += 1
        owner = import_module(".".join(parts[:used]))
    for part in parts[used:-1]:
        owner = member_of(owner, part)
    found = member_of(owner, parts[-1])
    if inspect.isclass(owner) and not inspect.ismethod(found):
        found = getattr(create_instance(owner), parts[-1])
    if inspect.isclass(found):
        raise StartupError(f'"{parts[-1]}" is a class; name one of its methods: module.Class.method')
    if not callable(found):
        raise StartupError(f'"{parts[-1]}" has type {type(found).__name__}; expected a function or method')
    return found


def has_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):  # the part before the last dot is not a package
        return False


def import_module(name: str) -> Any:
    if not has_module(name):
        import pkgutil

        hint = did_you_mean(name, [module.name for module in pkgutil.iter_modules([os.getcwd()])])
        raise StartupError(
            f'module "{name}" was not found in {os.getcwd()} or on the Python path; '
            f"start the runtime in the module's folder, or set PYTHONPATH{hint}"
        )
    try:
        return importlib.import_module(name)
    except SyntaxError as error:
        raise StartupError(f"{error.filename}:{error.lineno}: SyntaxError: {error.msg}") from error
    except ModuleNotFoundError as error:
        text = f'an import was not found: "{name}" imports "{error.name}"; install the package, or fix the import'
        raise StartupError(text, error) from error
    except (Exception, SystemExit) as error:
        raise StartupError(f'loading "{name}" failed with {describe(error)}', error) from error


def member_of(owner: Any, name: str) -> Any:
    try:
        return getattr(owner, name)
    except AttributeError:
        known = [key for key in dir(owner) if not key.startswith("_") and callable(getattr(owner, key, None))]
        title = getattr(owner, "__name__", type(owner).__name__)
        raise StartupError(f'"{title}" has no "{name}"{did_you_mean(name, known) or "; define it"}') from None


def create_instance(cls: type) -> Any:
    if required := required_names(parameters_of(cls)):
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
    parameters = parameters_of(handler)
    positional = [one for one in parameters if one.kind.name.startswith("POSITIONAL_")]
    required = required_names(parameters)
    if len(required) > 2 or not set(required) <= {one.name for one in positional}:
        names = ", ".join(required)
        raise StartupError(
            f"the handler requires arguments ({names}), but is called with the payload and at most a context; "
            "give the others defaults"
        )
    if not positional and not any(one.kind is one.VAR_POSITIONAL for one in parameters):
        raise StartupError("the handler takes no arguments, but is called with the payload; add a parameter")
    return len(required) == 2 or (len(positional) > 1 and positional[1].name in ("ctx", "context"))


def parameters_of(function: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(function).parameters.values())
    except ValueError:  # some built-in functions have no signature
        return [inspect.Parameter("payload", inspect.Parameter.POSITIONAL_ONLY)]


def required_names(parameters: list[inspect.Parameter]) -> list[str]:
    return [one.name for one in parameters if one.default is one.empty and not one.kind.name.startswith("VAR_")]


def did_you_mean(typed: str, names: list[str]) -> str:
    """A hint such as `; did you mean "score"?`. Empty if `names` is empty."""
    import difflib

    return "".join(f'; did you mean "{word}"?' for word in difflib.get_close_matches(typed, names, 1, 0.0))


# ----------------------------------------------------------------------------------------------------------------------
# Calling: from a request to a reply
# ----------------------------------------------------------------------------------------------------------------------


@dataclass
class Context:
    """What a handler gets besides its payload. In the payload protocol over the socket, every field is empty."""

    envelope_id: str | None = None
    attempt: int | None = None
    deadline: str | None = None
    traceparent: str | None = None
    #: In the envelope protocol the envelope's headers, which the handler may change; otherwise the HTTP request's.
    headers: dict[str, Any] = field(default_factory=dict)
    #: Only in the envelope protocol.
    envelope: dict[str, Any] | None = None
    #: The rest of the route. Assign it to change the route.
    route_next: list[str] | None = None
    #: The encoded headers as they arrived, to detect a change.
    original_headers: bytes = field(default=b"", repr=False)


class Reply(NamedTuple):
    """What the runtime answers. Over the socket only the body is sent."""

    #: As in HTTP: 200 a result, 204 no result, 400 a bad request, 500 the handler failed.
    status: int
    body: bytes
    headers: tuple[tuple[str, str], ...] = ()


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
        """Never raises: a failure becomes an error reply. `http_headers` is None over the socket."""
        try:
            request = decode(body)
            if self.settings.is_envelope:
                payload, context = payload_and_context_from_envelope(request)
            else:
                payload, context = request, context_from_http(http_headers or {})
            value = self.call(payload, context)
            if value is None:
                return Reply(204, b"null")
            return Reply(200, encode(value), self.route_header(context, http_headers is not None))
        except BadRequest as error:
            return Reply(400, error_body(error, "bad_request"))
        except SystemExit as error:
            log(f"the handler called sys.exit({error.code!r})")
            sys.stdout.flush()
            os._exit(error.code if isinstance(error.code, int) else int(error.code is not None))
        except BaseException as error:
            return Reply(500, error_body(error))

    def call(self, payload: Any, context: Context) -> Any:
        """Calls the handler and returns the value of the answer; None if there is nothing to send on.

        The items of a generator become a list. In the envelope protocol the value is `{"frames": [...]}`, one frame
        for each result.
        """
        is_envelope = self.settings.is_envelope

        def to_item(value: Any) -> Any:
            return envelope_frame(value, context) if is_envelope else value

        async def collect(generator: Any) -> list[Any]:
            return [to_item(item) async for item in generator]

        value = self.handler(payload, context) if self.takes_context else self.handler(payload)
        if inspect.isawaitable(value):
            value = self.loop.run(value)
        if inspect.isasyncgen(value):
            items = self.loop.run(collect(value))
        elif inspect.isgenerator(value):
            items = [to_item(item) for item in value]
        elif value is None or not is_envelope:
            return value
        else:  # in the payload protocol the sidecar splits a list; in the envelope protocol this runtime does
            is_many = self.settings.is_fan_out and isinstance(value, (list, tuple))
            items = [to_item(item) for item in (value if is_many else [value])]
        return None if not items else {"frames": items} if is_envelope else items

    def route_header(self, context: Context, is_http: bool) -> tuple[tuple[str, str], ...]:
        """The HTTP header that carries a changed route in the payload protocol. Raises if the route is invalid."""
        if self.settings.is_envelope or context.route_next is None:
            return ()
        names = actor_names_from(context.route_next)
        if not is_http:
            raise ValueError(
                "the handler set route_next, but over a socket only the envelope protocol supports it; "
                "set ASYA_RUNTIME_PROTOCOL=envelope, or set ASYA_RUNTIME_URL to an http URL"
            )
        # Printable ASCII without the comma, which separates the names.
        if not all(re.fullmatch(r"[!-+\--~]+", name) for name in names):
            raise ValueError(f"the handler set route_next to {names!r}; expected a list of actor names")
        return (("x-asya-route-next", ",".join(names)),)


class EventLoop:
    """One loop for all async calls, so that a client created during one call can be used in the next."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.loop: Any = None

    def run(self, awaitable: Awaitable[Any]) -> Any:
        import asyncio  # takes as long to import as everything else, and many handlers do not need it

        async def guarded() -> tuple[Any, BaseException | None]:
            try:
                return await awaitable, None
            except BaseException as error:  # a SystemExit, for example, would end the loop for all calls
                return None, error

        with self.lock:
            if self.loop is None:
                self.loop = asyncio.new_event_loop()
                threading.Thread(target=self.loop.run_forever, daemon=True).start()
        value, error = asyncio.run_coroutine_threadsafe(guarded(), self.loop).result()
        if error is not None:
            raise error
        return value


def context_from_http(http_headers: Mapping[str, str]) -> Context:
    headers = {key.lower(): text for key, text in http_headers.items()}
    attempt = headers.get("x-asya-attempt", "")
    return Context(
        envelope_id=headers.get("x-asya-envelope-id"),
        attempt=int(attempt) if re.fullmatch("[0-9]{1,9}", attempt) else None,
        deadline=headers.get("x-asya-deadline"),
        traceparent=headers.get("traceparent"),
        headers=headers,
    )


def payload_and_context_from_envelope(value: Any) -> tuple[Any, Context]:
    """Raises a BadRequest if the value is not an envelope."""
    try:
        route, status, headers = value["route"], value.get("status") or {}, dict(value.get("headers") or {})
        if isinstance(route["curr"], str) and isinstance(route["prev"], list):
            return value["payload"], Context(
                envelope_id=value.get("id"),
                attempt=status.get("attempt"),
                deadline=status.get("deadline_at"),
                traceparent=headers.get("traceparent"),
                headers=headers,
                envelope=value,
                route_next=actor_names_from(route["next"]),
                original_headers=encode(headers),
            )
    except (KeyError, TypeError, ValueError, AttributeError):
        pass
    raise BadRequest(
        "the request body is not an envelope, which ASYA_RUNTIME_PROTOCOL=envelope requires: "
        "it needs a payload and a route with prev, curr and next"
    )


def envelope_frame(payload: Any, context: Context) -> dict[str, Any]:
    """Reads the context at each yield, so that a handler can send each item along its own route."""
    route, names = (context.envelope or {})["route"], actor_names_from(context.route_next)
    shifted = {"prev": [*route["prev"], route["curr"]], "curr": (names or [""])[0], "next": names[1:]}
    headers = encode(context.headers)
    changed = {} if headers == context.original_headers else {"headers": json.loads(headers)}
    return {"payload": payload, "route": shifted, **changed}


def actor_names_from(route_next: Any) -> list[str]:
    if isinstance(route_next, (list, tuple)) and all(isinstance(name, str) for name in route_next):
        return list(route_next)
    raise TypeError(f"the handler set route_next to {route_next!r}; expected a list of actor names")


def decode(body: bytes) -> Any:
    """Raises a BadRequest if the body is not JSON in UTF-8."""

    def refuse_constant(word: str) -> NoReturn:
        raise ValueError(f"{word} is not a JSON value")

    try:
        return json.loads(body.decode("utf-8"), parse_constant=refuse_constant)
    except (ValueError, RecursionError) as error:
        text = f"the request body ({len(body)} bytes) is not JSON: {error}; send one JSON value encoded as UTF-8"
        raise BadRequest(text) from None


def refuse_value(value: Any) -> NoReturn:
    raise ResultNotSerializable(
        f"the handler's result contains a {type_name(type(value))}, which JSON cannot represent; "
        "return dicts, lists, strings, numbers, booleans or None"
    )


ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=refuse_value)


def encode(value: Any) -> bytes:
    """Raises a ResultNotSerializable if JSON cannot represent the value."""
    try:
        # A lone surrogate has no UTF-8; as a backslash escape it is valid JSON.
        return ENCODER.encode(value).encode("utf-8", "backslashreplace")
    except ResultNotSerializable:
        raise
    except (TypeError, ValueError, RecursionError) as error:
        is_nan = "Out of range" in str(error)
        reason = "it contains NaN or Infinity; return None or a string instead" if is_nan else str(error)
        raise ResultNotSerializable(f"the handler's result cannot be encoded as JSON: {reason}") from None


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


class ResultNotSerializable(TypeError):
    """The handler returned a value that JSON cannot represent. The class name is the error's type in the mesh."""


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
    own_files = (main.__code__.co_filename, importlib.__file__, json.encoder.__file__)
    frames = error.__traceback__
    while frames and frames.tb_frame.f_code.co_filename.startswith((*own_files, "<frozen importlib")):
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
    return isinstance(value, str) or (type(value) in (int, float) and math.isfinite(value))


# ----------------------------------------------------------------------------------------------------------------------
# Server: what both protocols share
# ----------------------------------------------------------------------------------------------------------------------


class Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
    """Accepts connections on a Unix socket or a TCP port, and serves each one in its own thread."""

    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True
    request_queue_size = 128

    def __init__(self, host: HandlerHost, connection: type[socketserver.BaseRequestHandler]) -> None:
        self.host, address = host, host.settings.address
        self.is_unix = isinstance(address, str)
        tcp_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        self.address_family = socket.AF_UNIX if self.is_unix else tcp_family
        super().__init__(address, connection)  # type: ignore[arg-type]

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exc_info()[1], OSError):
            log("internal error in the runtime:\n" + traceback.format_exc())
        elif IS_DEBUG:
            log(f"a connection was lost: {sys.exc_info()[1]}")


def listen(host: HandlerHost) -> Server:
    """Raises a StartupError if the runtime cannot listen at its URL."""
    try:
        if isinstance(host.settings.address, str):
            prepare_socket_path(host.settings.address)
        return Server(host, http_connection() if host.settings.is_http else SocketConnection)
    except (OSError, OverflowError) as error:
        text = f"cannot listen at {host.settings.url}: {error}; set ASYA_RUNTIME_URL to a free address"
        raise StartupError(text) from error


def prepare_socket_path(path: str) -> None:
    """Creates the folder and removes a stale socket file, which remains after a process was killed.

    Raises a StartupError if another process listens there, or if the path is not a socket.
    """
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


class SocketConnection(socketserver.StreamRequestHandler):
    """One frame is a call, one frame is its answer, one call at a time on each connection.

    A frame is a 4-byte big-endian length, then that many bytes of JSON.
    """

    server: Server

    def handle(self) -> None:
        host = self.server.host
        while (body := self.read_frame(host.settings.max_request_bytes)) is not None:
            if not host.begin():
                return
            try:
                answer = host.answer(body, None).body
                self.request.sendall(len(answer).to_bytes(4, "big") + answer)
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
# HTTP protocol
# ----------------------------------------------------------------------------------------------------------------------

CLOSE = ("Connection", "close")


def http_connection() -> type[socketserver.BaseRequestHandler]:
    """`POST` to the handler's path is a call, `GET /healthz` is the readiness check."""
    from http.server import BaseHTTPRequestHandler  # slow to import, and the socket protocol does not need it

    class HttpConnection(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        server: Server

        def setup(self) -> None:
            self.disable_nagle_algorithm = not self.server.is_unix
            super().setup()

        def log_message(self, format: str, *args: Any) -> None:
            if IS_DEBUG:
                log(format % args)

        def serve(self) -> None:
            settings, path = self.server.host.settings, urlsplit(self.path).path
            methods = {"/healthz": "GET", settings.path: "POST"}
            length = self.headers.get("Content-Length", "" if "Transfer-Encoding" in self.headers else "0")
            if not length.isdecimal():
                return self.refuse(411, "length_required", "the request needs a Content-Length header", CLOSE)
            if int(length) > settings.max_request_bytes:
                limit = f"ASYA_RUNTIME_MAX_REQUEST ({settings.max_request_bytes} bytes)"
                text = f"the request body of {length} bytes is larger than {limit}"
                return self.refuse(413, "too_large", text, CLOSE)
            body = self.rfile.read(int(length))
            if path not in methods:
                return self.refuse(404, "not_found", f"no such path: {path}; the handler is at {settings.path}")
            if self.command != methods[path]:
                text = f"{path} accepts {methods[path]}, not {self.command}"
                return self.refuse(405, "method_not_allowed", text, ("Allow", methods[path]))
            if self.command == "GET":
                return self.reply(Reply(200, b'{"status":"ready"}'))
            if not self.server.host.begin():
                return self.refuse(503, "stopping", "the runtime is stopping; send the request again", CLOSE)
            try:
                return self.reply(self.server.host.answer(body, self.headers))
            finally:
                self.server.host.finish()

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = serve

        def refuse(self, status: int, code: str, text: str, *headers: tuple[str, str]) -> None:
            self.reply(Reply(status, error_body(BadRequest(text), code), headers))

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
    """Ends `serve_forever`. Ignores further signals, which would otherwise interrupt the shutdown."""
    for number in STOP_SIGNALS:
        signal.signal(number, lambda *_: None)
    raise KeyboardInterrupt


def stop(server: Server) -> None:
    """Finishes the calls in flight, at most for the grace period."""
    for number in STOP_SIGNALS:  # unlike a function, SIG_IGN stays in place while the interpreter exits
        signal.signal(number, signal.SIG_IGN)
    server.server_close()
    if isinstance(server.host.settings.address, str) and os.path.exists(server.host.settings.address):
        os.unlink(server.host.settings.address)
    if not server.host.close(SHUTDOWN_GRACE_S):
        log(f"exiting after {SHUTDOWN_GRACE_S:g} s with unfinished calls: {server.host.in_flight}")
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
        settings = settings_from(os.environ, sys.argv[1:])
        if os.environ.get("ASYA_PARENT_PIPE") == "1":
            watch_parent()
        server = listen(HandlerHost(load_handler(name), settings))
    except StartupError as error:
        log(f'cannot host "{name}": {error}')
        if IS_DEBUG:
            traceback.print_exc()
        elif error.user_error is not None:
            sys.stderr.write(user_traceback(error.user_error))
        return 1
    try:
        for number in STOP_SIGNALS:
            signal.signal(number, on_stop_signal)
        port = "" if server.is_unix else f" (port {server.server_address[1]})"
        log(f"{name} is ready at {settings.url}{port}")
        server.serve_forever()
    except KeyboardInterrupt:
        pass  # raised by on_stop_signal
    stop(server)
    return 0


if __name__ == "__main__":
    sys.exit(main())
