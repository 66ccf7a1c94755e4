"""Runs a handler in a test, as the mesh would: with a context, with JSON in and JSON out.

    from asya.testing import run

    def test_score():
        result = run(score, {"text": "hi"}, attempt=2)
        assert result.items == [{"text": "hi", "score": 0.9}]

    def test_the_error():
        with pytest.raises(RateLimited) as raised:
            run(score, {"text": "hi"})
        assert error_of(raised.value).http_status == 429

Works in pytest, unittest and any other test runner. It needs no mesh and no sidecar.
"""

from __future__ import annotations

import json
from datetime import datetime, timezone
from typing import Any, Callable, Mapping, NamedTuple, Sequence

from asya._runtime import Call, Context, EventLoop, HandlerHost, Route, RoutedError, Settings, encode, error_body

__all__ = ["Error", "Item", "Progress", "Result", "error_of", "run"]

# As in the runtime, all async handlers share one loop, so that a client of one call can be used in the next.
LOOP = EventLoop()


class Item(NamedTuple):
    """One envelope that the mesh would send on."""

    payload: Any
    #: The actors that it would visit; empty if its route ends here.
    next: tuple[str, ...]
    headers: Mapping[str, Any]


class Progress(NamedTuple):
    """One update that the handler reported. What it left out is None."""

    percent: float | None
    message: str | None
    data: Any


class Result(NamedTuple):
    """What a handler did."""

    #: The payloads that the next actor would receive: the result, the items of a list, or the yielded values. Empty if
    #: the handler returned None or an empty list, which ends the route.
    items: list[Any]
    #: Each of `items` with its own route and headers, for a generator that changes them between two values.
    sent: list[Item]
    #: The route after the call, with what `set_route_next` changed.
    route: Route
    #: The headers after the call, with what `set_header` and `remove_header` changed.
    headers: dict[str, Any]
    #: What the handler reported by `ctx.progress`, in order.
    progress: list[Progress]


class Error(NamedTuple):
    """An exception as the mesh sees it. Policies match its type, its ancestors and its HTTP status."""

    #: The class with its module, without `builtins`. Example: `shop.errors.RateLimited`.
    type: str
    #: The whole inheritance chain, including the class itself.
    mro: list[str]
    message: str
    traceback: str
    #: The status of a failed request, if the exception or one of its causes has one. Example: 429.
    http_status: int | None
    #: The delay that the exception requests: seconds, or a time as text. Example: 30.
    retry_after: float | str | None


def error_of(exception: BaseException) -> Error:
    """What the mesh would know about an exception of a handler."""
    if not isinstance(exception, BaseException):
        raise TypeError(f"error_of received {exception!r}; expected an exception, for example raised.exception")
    fields = json.loads(error_body(exception))
    return Error(
        fields["type"],
        fields["mro"],
        fields["message"],
        fields["traceback"],
        fields.get("http_status"),
        fields.get("retry_after"),
    )


def run(
    handler: Callable[..., Any],
    payload: Any = None,
    *,
    envelope_id: str = "test-envelope",
    parent_id: str | None = None,
    actor: str = "test-actor",
    hop: int | None = None,
    attempt: int = 1,
    max_attempts: int | None = None,
    deadline: datetime | None = None,
    timeout: float = 300.0,
    prev: Sequence[str] = (),
    next: Sequence[str] = (),
    headers: Mapping[str, Any] | None = None,
    traceparent: str | None = None,
    tracestate: str | None = None,
    error: RoutedError | None = None,
    cancelled: bool | Callable[[], bool] = False,
    fan_out: bool = True,
) -> Result:
    """Calls a handler, which may be async or a generator, and returns what it did. Raises what the handler raises;
    `error_of` shows what the mesh would know about it.

    The arguments are the fields of the handler's Context. Others: `timeout` is the time limit in seconds, `prev` and
    `next` are the route, `cancelled` is what `ctx.cancelled()` returns (or a function that returns it), and
    `fan_out=False` treats a list as one result, as ASYA_FANOUT=never does. `hop` is the length of `prev` if not given.

    The payload is encoded to JSON and decoded, and so is each result. Raises a TypeError if JSON cannot represent one.
    """
    for name, names in (("prev", prev), ("next", next)):
        if isinstance(names, str):
            raise TypeError(f"{name} is {names!r}; expected a list of actor names, for example [{names!r}]")
    if deadline is not None and deadline.tzinfo is None:
        raise ValueError(f"the deadline {deadline} has no time zone; use for example datetime.now(timezone.utc)")
    head = {
        "id": envelope_id,
        "parent_id": parent_id,
        "actor": actor,
        "hop": len(prev) if hop is None else hop,
        "attempt": attempt,
        "max_attempts": max_attempts,
        "deadline": deadline and deadline.astimezone(timezone.utc).isoformat(),
        "timeout_ms": timeout * 1000,
        "route": {"prev": list(prev), "curr": actor, "next": list(next)},
        "headers": copied(dict(headers or {}), "the headers"),
        "error": error and error._asdict(),
        "traceparent": traceparent,
        "tracestate": tracestate,
    }
    host = HandlerHost(handler, Settings())
    host.loop = LOOP
    call = RecordedCall(host, cancelled)
    context = Context(head, call)
    sent: list[Item] = []

    def add(value: Any) -> None:
        sent.append(Item(copied(value, "the handler's result"), context.route.next, dict(context.headers)))

    value, _ = host.run(copied(payload, "the payload"), context, add)
    if value is not None:
        for item in value if fan_out and isinstance(value, (list, tuple)) else [value]:
            add(item)
    return Result([one.payload for one in sent], sent, context.route, dict(context.headers), call.updates)


class RecordedCall(Call):
    """Keeps the progress of a call instead of sending it."""

    def __init__(self, host: HandlerHost, cancelled: bool | Callable[[], bool]) -> None:
        super().__init__(host, {})
        self.cancelled = cancelled
        self.updates: list[Progress] = []

    def report(self, head: dict[str, Any], body: bytes) -> None:
        data = json.loads(body) if body else None
        self.updates.append(Progress(head.get("percent"), head.get("message"), data))

    def is_cancelled(self) -> bool:
        return self.is_over or (self.cancelled() if callable(self.cancelled) else self.cancelled)


def copied(value: Any, what: str) -> Any:
    return json.loads(encode(value, what))
