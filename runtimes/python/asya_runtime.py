"""Hosts one handler for the asya sidecar. Standard library only, Python 3.9 and later.

    python3 asya_runtime.py my_module.my_func        (or my_module.MyClass.my_method, or ASYA_HANDLER)

A handler takes the payload, and a Context where its second argument has no default or is called `ctx` or `context`.
What it returns goes on, None ends the route, each `yield` is one item of a fan-out; it may be async. Handlers run in
a thread per connection; async ones share one event loop.
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

GRACE_S = 5.0
ENDINGS = (signal.SIGTERM, signal.SIGINT)
IS_DEBUG = os.environ.get("ASYA_LOG_LEVEL", "").lower() == "debug"
# Where the usual HTTP clients keep what the mesh's rules can use.
STATUS_PLACES = (
    "status_code status http_status response.status_code response.status code statusCode response.statusCode "
    "$metadata.httpStatusCode response.ResponseMetadata.HTTPStatusCode"
).split()
RETRY_AFTER_PLACES = "retry_after retryAfter response.retry_after response.retryAfter".split()
HEADER_PLACES = "response.headers headers response.ResponseMetadata.HTTPHeaders".split()
CLOSE = ("Connection", "close")


class Refusal(Exception):
    """Why the runtime cannot start, in one sentence, and what the user's own code raised, if it did."""

    def __init__(self, sentence: str, raised: BaseException | None = None) -> None:
        super().__init__(sentence)
        self.raised = raised


class BadRequest(Exception):
    """What came is not what the protocol says."""


class ResultNotSerializable(TypeError):
    """The handler gave something that JSON cannot carry."""


@dataclass
class Context:
    """What a handler may know beside its payload. Over the socket, without the envelope, nothing is known."""

    envelope_id: str | None = None
    attempt: int | None = None
    deadline: str | None = None
    traceparent: str | None = None
    #: In the envelope protocol the envelope's, to be changed at will; else those of the HTTP request.
    headers: dict[str, Any] = field(default_factory=dict)
    envelope: dict[str, Any] | None = None
    #: Assign it to rewrite the rest of the route.
    route_next: list[str] | None = None
    headers_before: bytes = field(default=b"", repr=False)


class Settings(NamedTuple):
    handler: str
    url: str
    is_http: bool
    address: str | tuple[str, int]
    path: str
    is_envelope: bool
    is_fan_out: bool
    max_request: int


class Reply(NamedTuple):
    status: int
    body: bytes
    headers: tuple[tuple[str, str], ...] = ()


def log(text: str) -> None:
    print(f"asya-runtime: {text}", file=sys.stderr, flush=True)


# --- start ---


def settings_from(env: Mapping[str, str], arguments: list[str]) -> Settings:
    name = arguments[0] if arguments else env.get("ASYA_HANDLER", "")
    if len(arguments) > 1 or not name:
        given = f"{len(arguments)} were given" if arguments else "none was given and ASYA_HANDLER is not set"
        raise Refusal(f"one argument must name the handler, such as my_module.my_func; {given}")
    protocol = env.get("ASYA_RUNTIME_PROTOCOL") or "payload"
    if protocol not in ("payload", "envelope"):
        raise Refusal(f'ASYA_RUNTIME_PROTOCOL is "{protocol}"; it may be "payload" or "envelope"')
    limit = env.get("ASYA_RUNTIME_MAX_REQUEST") or str(16 * 1024 * 1024)
    if not re.fullmatch("[1-9][0-9]{0,14}", limit):
        raise Refusal(f'ASYA_RUNTIME_MAX_REQUEST is "{limit}"; it must be a whole number of bytes above 0')
    url = env.get("ASYA_RUNTIME_URL") or "unix:" + (env.get("ASYA_SOCKET_PATH") or "/tmp/sockets/app.sock")
    is_fan_out = env.get("ASYA_FANOUT") != "never"
    return Settings(name, url, *place_from_url(url), protocol == "envelope", is_fan_out, int(limit))


def place_from_url(url: str) -> tuple[bool, str | tuple[str, int], str]:
    if found := re.fullmatch(r"unix:(.+)", url):
        return False, os.path.abspath(found[1]), ""
    if found := re.fullmatch(r"http\+unix:([^:]+):?(/.*)?", url):
        return True, os.path.abspath(found[1]), found[2] or "/"
    if found := re.fullmatch(r"http://(\[[0-9a-fA-F:.]+\]|[^\[\]/:?#@]+)(?::([0-9]{1,5}))?(/[^?#]*)?", url):
        return True, (found[1].strip("[]"), int(found[2] or 80)), found[3] or "/"
    raise Refusal(
        f'ASYA_RUNTIME_URL is "{url}"; it may be like unix:/tmp/sockets/app.sock, http://127.0.0.1:8080/invoke or '
        "http+unix:/tmp/sockets/app.sock:/invoke"
    )


def load_handler(name: str) -> Callable[..., Any]:
    parts = name.split(".")
    if len(parts) < 2 or not all(part.isidentifier() for part in parts):
        raise Refusal("it must be written module.function or module.Class.method, such as my_module.my_func")
    sys.path.insert(0, os.getcwd())
    holder, used = import_module(parts[0]), 1
    while used < len(parts) - 1 and has_module(".".join(parts[: used + 1])):
        used += 1
        holder = import_module(".".join(parts[:used]))
    for part in parts[used:-1]:
        holder = member(holder, part)
    found = member(holder, parts[-1])
    if inspect.isclass(holder) and not inspect.ismethod(found):
        found = getattr(make_instance(holder), parts[-1])
    if inspect.isclass(found) or not callable(found):
        what = "a class; name its method too" if inspect.isclass(found) else f"a {type(found).__name__}"
        raise Refusal(f'"{parts[-1]}" is {what}; it must be written module.function or module.Class.method')
    return found


def has_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):  # what comes before its last dot is no package
        return False


def import_module(name: str) -> Any:
    if not has_module(name):
        import pkgutil

        hint = did_you_mean(name, [found.name for found in pkgutil.iter_modules([os.getcwd()])])
        raise Refusal(
            f'there is no module "{name}" in {os.getcwd()} or elsewhere on the Python path{hint}; '
            "start it where the module is, or set PYTHONPATH"
        )
    try:
        return importlib.import_module(name)
    except SyntaxError as error:
        raise Refusal(f"{error.filename}:{error.lineno} is not valid Python: {error.msg}; correct it") from error
    except ModuleNotFoundError as error:
        raise Refusal(f'"{name}" imports "{error.name}", which is not there; install it', error) from error
    except (Exception, SystemExit) as error:
        raise Refusal(f'"{name}" failed while it was loaded, with {describe(error)}', error) from error


def member(holder: Any, name: str) -> Any:
    try:
        return getattr(holder, name)
    except AttributeError:
        there = [key for key in dir(holder) if not key.startswith("_") and callable(getattr(holder, key, None))]
        title = getattr(holder, "__name__", type(holder).__name__)
        raise Refusal(f'"{title}" has no "{name}"{did_you_mean(name, there) or "; define it"}') from None


def make_instance(cls: type) -> Any:
    if needed := required(parameters(cls)):
        names = ", ".join(needed)
        raise Refusal(f'"{cls.__name__}" needs arguments ({names}), but is made without; give them defaults')
    try:
        return cls()
    except (Exception, SystemExit) as error:
        raise Refusal(f'"{cls.__name__}" failed while it was made, with {describe(error)}', error) from error


def parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(function).parameters.values())
    except ValueError:  # some built-in functions do not tell
        return [inspect.Parameter("payload", inspect.Parameter.POSITIONAL_ONLY)]


def required(known: list[inspect.Parameter]) -> list[str]:
    return [one.name for one in known if one.default is one.empty and not one.kind.name.startswith("VAR_")]


def takes_context(handler: Callable[..., Any]) -> bool:
    """`def score(payload, threshold=0.5)` has a second argument too, and no use for a context in it."""
    known = parameters(handler)
    positional = [one for one in known if one.kind.name.startswith("POSITIONAL_")]
    needed = required(known)
    if len(needed) > 2 or not set(needed) <= {one.name for one in positional}:
        names = ", ".join(needed)
        raise Refusal(f"it needs arguments ({names}), but gets the payload and, at most, a context; give them defaults")
    if not positional and not any(one.kind is one.VAR_POSITIONAL for one in known):
        raise Refusal("it takes no arguments, but gets the payload; give it one")
    return len(needed) == 2 or (len(positional) > 1 and positional[1].name in ("ctx", "context"))


def did_you_mean(typed: str, names: list[str]) -> str:
    import difflib

    return "".join(f'; did you mean "{word}"?' for word in difflib.get_close_matches(typed, names, 1, 0.0))


# --- errors ---


def type_name(cls: type) -> str:
    return cls.__qualname__ if cls.__module__ in ("builtins", __name__) else f"{cls.__module__}.{cls.__qualname__}"


def message_of(error: BaseException) -> str:
    try:
        return str(error) or repr(error)
    except Exception:
        return "(cannot be printed)"


def describe(error: BaseException) -> str:
    return f"{type_name(type(error))}: {message_of(error)}"


def error_body(error: BaseException, code: str = "processing_error") -> bytes:
    chain = with_causes(error)
    statuses = (look_at(one, place) for one in chain for place in STATUS_PLACES)
    delays = [look_at(one, place) for one in chain for place in RETRY_AFTER_PLACES]
    delays += [retry_after_in(look_at(one, place)) for one in chain for place in HEADER_PLACES]
    told: dict[str, Any] = {
        "error": code,
        "message": message_of(error),
        "type": type_name(type(error)),
        "mro": [type_name(one) for one in type(error).__mro__],
        "traceback": user_traceback(error),
        "http_status": next((int(one) for one in statuses if isinstance(one, int) and 100 <= one <= 599), None),
        "retry_after": next((one for one in delays if is_delay(one)), None),
    }
    return encode({key: value for key, value in told.items() if value is not None})


def user_traceback(error: BaseException) -> str:
    """As Python prints it, without the frames that lead from here to the user's code."""
    between = (main.__code__.co_filename, importlib.__file__, json.encoder.__file__)
    frames = error.__traceback__
    while frames and frames.tb_frame.f_code.co_filename.startswith((*between, "<frozen importlib")):
        frames = frames.tb_next
    return "".join(traceback.format_exception(type(error), error, frames))


def with_causes(error: BaseException) -> list[BaseException]:
    chain = [error]
    while chain[-1].__cause__ is not None and not any(one is chain[-1].__cause__ for one in chain):
        chain.append(chain[-1].__cause__)
    return chain


def look_at(source: Any, path: str) -> Any:
    for name in path.split("."):
        try:
            source = source.get(name) if isinstance(source, Mapping) else getattr(source, name, None)
        except Exception:
            return None  # a property that raises has nothing to say, and must not hide the error
    return source


def retry_after_in(headers: Any) -> Any:
    try:
        pairs = headers.items() if hasattr(headers, "items") else [("retry-after", headers.get("Retry-After"))]
        return next((value for key, value in pairs if str(key).lower() == "retry-after"), None)
    except Exception:
        return None


def is_delay(value: Any) -> bool:
    return isinstance(value, str) or (type(value) in (int, float) and math.isfinite(value))


# --- a call ---


def refuse_value(value: Any) -> NoReturn:
    raise ResultNotSerializable(
        f"the handler's result holds a {type_name(type(value))}, which JSON cannot carry; "
        "return dicts, lists, strings, numbers, booleans and None"
    )


ENCODE = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=refuse_value).encode


def encode(value: Any) -> bytes:
    try:
        # Half of a surrogate pair has no UTF-8; a backslash and its number is how JSON writes it anyway.
        return ENCODE(value).encode("utf-8", "backslashreplace")
    except ResultNotSerializable:
        raise
    except (TypeError, ValueError, RecursionError) as error:
        is_nan = "Out of range" in str(error)
        told = "it holds NaN or Infinity; return None or a string in its place" if is_nan else str(error)
        raise ResultNotSerializable(f"the handler's result cannot be written as JSON: {told}") from None


def decode(body: bytes) -> Any:
    def refuse_constant(word: str) -> NoReturn:
        raise ValueError(f"{word} is no value of JSON")

    try:
        return json.loads(body.decode("utf-8"), parse_constant=refuse_constant)
    except (ValueError, RecursionError) as error:
        raise BadRequest(f"the body of {len(body)} bytes is not JSON: {error}; send one JSON value in UTF-8") from None


def names_from(route_next: Any) -> list[str]:
    if isinstance(route_next, (list, tuple)) and all(isinstance(name, str) for name in route_next):
        return list(route_next)
    raise TypeError(f"the handler set route_next to {route_next!r}; it must be a list of actors' names")


def context_from_envelope(value: Any) -> tuple[Any, Context]:
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
                route_next=names_from(route["next"]),
                headers_before=encode(headers),
            )
    except (KeyError, TypeError, ValueError, AttributeError):
        pass
    raise BadRequest(
        "the body is no envelope, which ASYA_RUNTIME_PROTOCOL=envelope asks for: "
        "it needs a payload and a route of prev, curr and next"
    )


def frame_from(payload: Any, context: Context) -> dict[str, Any]:
    """Taken at each yield, so that a handler can send each item another way."""
    route, names = (context.envelope or {})["route"], names_from(context.route_next)
    shifted = {"prev": [*route["prev"], route["curr"]], "curr": (names or [""])[0], "next": names[1:]}
    headers = encode(context.headers)
    changed = {} if headers == context.headers_before else {"headers": json.loads(headers)}
    return {"payload": payload, "route": shifted, **changed}


class EventLoop:
    """One for all calls, so that a client made during one of them can be used in the next."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.loop: Any = None

    def run(self, awaitable: Awaitable[Any]) -> Any:
        import asyncio  # costs as much as the rest of the start, and many handlers do without

        async def guarded() -> tuple[Any, BaseException | None]:
            try:
                return await awaitable, None
            except BaseException as error:  # SystemExit and its like would end the loop for everybody
                return None, error

        with self.lock:
            if self.loop is None:
                self.loop = asyncio.new_event_loop()
                threading.Thread(target=self.loop.run_forever, daemon=True).start()
        value, error = asyncio.run_coroutine_threadsafe(guarded(), self.loop).result()
        if error is not None:
            raise error
        return value


class Host:
    """Turns a request into an answer, and counts those under way so that the end can wait for them."""

    def __init__(self, handler: Callable[..., Any], settings: Settings) -> None:
        self.handler, self.takes_context, self.settings = handler, takes_context(handler), settings
        self.loop = EventLoop()
        self.changed = threading.Condition()
        self.in_flight, self.is_closing = 0, False

    def begin(self) -> bool:
        with self.changed:
            self.in_flight += not self.is_closing
            return not self.is_closing

    def finish(self) -> None:
        with self.changed:
            self.in_flight -= 1
            self.changed.notify_all()

    def close(self) -> bool:
        with self.changed:
            self.is_closing = True
            return self.changed.wait_for(lambda: self.in_flight == 0, GRACE_S)

    def answer(self, body: bytes, http_headers: Mapping[str, str] | None) -> Reply:
        try:
            payload, context = self.request_from(decode(body), http_headers or {})
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

    def request_from(self, value: Any, http_headers: Mapping[str, str]) -> tuple[Any, Context]:
        if self.settings.is_envelope:
            return context_from_envelope(value)
        headers = {key.lower(): text for key, text in http_headers.items()}
        attempt = headers.get("x-asya-attempt", "")
        return value, Context(
            envelope_id=headers.get("x-asya-envelope-id"),
            attempt=int(attempt) if re.fullmatch("[0-9]{1,9}", attempt) else None,
            deadline=headers.get("x-asya-deadline"),
            traceparent=headers.get("traceparent"),
            headers=headers,
        )

    def call(self, payload: Any, context: Context) -> Any:
        """What the answer says; None where nothing is to be sent on."""
        is_envelope = self.settings.is_envelope

        def taken(item: Any) -> Any:
            return frame_from(item, context) if is_envelope else item

        async def collected(generator: Any) -> list[Any]:
            return [taken(item) async for item in generator]

        value = self.handler(payload, context) if self.takes_context else self.handler(payload)
        if inspect.isawaitable(value):
            value = self.loop.run(value)
        if inspect.isasyncgen(value):
            items = self.loop.run(collected(value))
        elif inspect.isgenerator(value):
            items = [taken(item) for item in value]
        elif value is None or not is_envelope:
            return value
        else:  # an array means here what it means to the sidecar in the other protocol
            is_many = self.settings.is_fan_out and isinstance(value, (list, tuple))
            items = [taken(item) for item in (value if is_many else [value])]
        return None if not items else {"frames": items} if is_envelope else items

    def route_header(self, context: Context, is_http: bool) -> tuple[tuple[str, str], ...]:
        if self.settings.is_envelope or context.route_next is None:
            return ()
        names = names_from(context.route_next)
        if not is_http:
            raise ValueError(
                "the handler set route_next, which the socket carries in the envelope protocol only; "
                "set ASYA_RUNTIME_PROTOCOL=envelope, or an http URL as ASYA_RUNTIME_URL"
            )
        if not all(re.fullmatch(r"[!-+\--~]+", name) for name in names):
            raise ValueError(f"the handler set route_next to {names!r}; it must be a list of actors' names")
        return (("x-asya-route-next", ",".join(names)),)


# --- connections ---


class Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True
    request_queue_size = 128

    def __init__(self, host: Host, connection: type[socketserver.BaseRequestHandler]) -> None:
        self.host, address = host, host.settings.address
        self.is_unix = isinstance(address, str)
        tcp_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        self.address_family = socket.AF_UNIX if self.is_unix else tcp_family
        super().__init__(address, connection)  # type: ignore[arg-type]

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exc_info()[1], OSError):
            log("a fault of the runtime's own:\n" + traceback.format_exc())
        elif IS_DEBUG:
            log(f"a connection was lost: {sys.exc_info()[1]}")


class SocketConnection(socketserver.StreamRequestHandler):
    """Frames of a 4-byte big-endian length and JSON, one call at a time."""

    server: Server

    def handle(self) -> None:
        host, limit = self.server.host, self.server.host.settings.max_request
        while head := self.rfile.read(4):
            size = int.from_bytes(head, "big") if len(head) == 4 else -1
            if size > limit:
                return log(f"closed a connection: a frame of {size} bytes came, ASYA_RUNTIME_MAX_REQUEST is {limit}")
            body = self.rfile.read(max(size, 0))
            if len(body) != size:
                return log("a connection ended in the middle of a frame")
            if not host.begin():
                return None
            try:
                answer = host.answer(body, None).body
                self.request.sendall(len(answer).to_bytes(4, "big") + answer)
            finally:
                host.finish()
        return None


def http_connection() -> type[socketserver.BaseRequestHandler]:
    from http.server import BaseHTTPRequestHandler  # dear to import, and the socket does without

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
                return self.refuse(411, "length_required", "the body must come with its Content-Length", CLOSE)
            if int(length) > settings.max_request:
                text = f"a body of {length} bytes came; ASYA_RUNTIME_MAX_REQUEST is {settings.max_request}"
                return self.refuse(413, "too_large", text, CLOSE)
            body = self.rfile.read(int(length))
            if path not in methods:
                return self.refuse(404, "not_found", f"nothing is at {path}; the handler is at {settings.path}")
            if self.command != methods[path]:
                text = f"{path} takes {methods[path]}, not {self.command}"
                return self.refuse(405, "method_not_allowed", text, ("Allow", methods[path]))
            if self.command == "GET":
                return self.reply(Reply(200, b'{"status":"ready"}'))
            if not self.server.host.begin():
                return self.refuse(503, "stopping", "the runtime is stopping; ask its successor", CLOSE)
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
                self.send_header(key, text)  # and closes the connection after "Connection: close"
            self.end_headers()
            if has_body and self.command != "HEAD":
                self.wfile.write(reply.body)

    return HttpConnection


def listen(host: Host) -> Server:
    try:
        if isinstance(host.settings.address, str):
            make_room(host.settings.address)
        return Server(host, http_connection() if host.settings.is_http else SocketConnection)
    except (OSError, OverflowError) as error:
        raise Refusal(f"cannot listen at {host.settings.url}: {error}; set ASYA_RUNTIME_URL to a free place") from error


def make_room(path: str) -> None:
    """A socket file outlives its process. Where nobody answers it is in the way, where somebody does it is not ours."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    try:
        if not stat.S_ISSOCK(os.lstat(path).st_mode):
            raise Refusal(f"{path} is there and is no socket; remove it, or set ASYA_SOCKET_PATH to another path")
        with socket.socket(socket.AF_UNIX) as probe:
            probe.settimeout(1)
            probe.connect(path)
    except FileNotFoundError:
        return
    except ConnectionRefusedError:
        return os.unlink(path)
    raise Refusal(f"another runtime answers at {path}; stop it, or set ASYA_SOCKET_PATH to another path")


# --- the process ---


def watch_parent() -> None:
    """The sidecar holds the other end of stdin: its end is ours, also where it was killed."""
    if not stat.S_ISFIFO(os.fstat(0).st_mode) and not stat.S_ISSOCK(os.fstat(0).st_mode):
        raise Refusal("ASYA_PARENT_PIPE=1 says that stdin is a pipe, and it is none; unset it, or give a pipe")

    pipe = os.dup(0)  # a handler that closes its stdin does not mean us

    def wait_for_end() -> None:
        while select.select([pipe], [], []) and os.read(pipe, 4096):
            pass
        os._exit(0)

    threading.Thread(target=wait_for_end, daemon=True).start()
    if sys.platform == "linux":  # native code that never gives up the interpreter's lock keeps that thread waiting
        try:
            import ctypes

            ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
        except (ImportError, OSError, AttributeError):
            pass


def leave(*_: Any) -> NoReturn:
    """Once: a second signal in the middle of the end would be the end of that."""
    for number in ENDINGS:
        signal.signal(number, lambda *_: None)
    raise KeyboardInterrupt


def stop(server: Server) -> None:
    for number in ENDINGS:  # what is no function stays as it is when the interpreter ends
        signal.signal(number, signal.SIG_IGN)
    server.server_close()
    if isinstance(server.host.settings.address, str) and os.path.exists(server.host.settings.address):
        os.unlink(server.host.settings.address)
    if not server.host.close():
        log(f"{server.host.in_flight} calls still ran after {GRACE_S:g} s and are cut off")
        os._exit(0)
    # Exit handlers run as usual, but a thread that never ends must not keep the process.
    guard = threading.Timer(GRACE_S, os._exit, (0,))
    guard.daemon = True
    guard.start()


def main() -> int:
    if sys.stdout is not None:
        sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    name = sys.argv[1] if len(sys.argv) == 2 else os.environ.get("ASYA_HANDLER", "")
    try:
        settings = settings_from(os.environ, sys.argv[1:])
        if os.environ.get("ASYA_PARENT_PIPE") == "1":
            watch_parent()
        server = listen(Host(load_handler(name), settings))
    except Refusal as refusal:
        log(f'cannot host "{name}": {refusal}')
        if IS_DEBUG:
            traceback.print_exc()
        elif refusal.raised is not None:
            sys.stderr.write(user_traceback(refusal.raised))
        return 1
    try:
        for number in ENDINGS:
            signal.signal(number, leave)
        bound = "" if server.is_unix else f" (port {server.server_address[1]})"
        log(f"{name} is ready at {settings.url}{bound}")
        server.serve_forever()
    except KeyboardInterrupt:
        pass  # how the first of them arrives
    stop(server)
    return 0


if __name__ == "__main__":
    sys.exit(main())
