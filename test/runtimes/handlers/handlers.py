"""The same handlers as in handlers.ts, under the same names, so that both languages share one table of cases."""

import asyncio
import gc
import os
import subprocess
import sys
import threading
import time


def echo(payload):
    return payload


def nothing(payload):
    return None


async def later(payload):
    await asyncio.sleep(0.01)
    return payload


def each(payload):
    yield from payload


def endless(payload):
    while True:
        yield payload


async def eachlater(payload):
    for item in payload:
        await asyncio.sleep(0)
        yield item


async def lateeach(payload):
    return each(payload)


class Counter:
    def __init__(self):
        self.count = 0

    def add(self, payload):
        self.count += payload
        return self.count

    async def addlater(self, payload):
        return self.add(payload)

    @staticmethod
    def twice(payload):
        return payload * 2

    def call(self, payload):
        return ["call", payload]


def known(payload, ctx):
    return {
        "payload": payload,
        "id": ctx.envelope_id,
        "attempt": ctx.attempt,
        "deadline": ctx.deadline and ctx.deadline.isoformat().replace("+00:00", "Z"),
        "traceparent": ctx.traceparent,
        "custom": ctx.headers.get("x-custom"),
        "error": ctx.error and ctx.error._asdict(),
        "key": ctx.idempotency_key,
    }


def default(payload, threshold=0.5):
    return {"payload": payload, "threshold": threshold}


def reroute(payload, ctx):
    ctx.set_route_next(payload["next"])
    return payload


def rerouteeach(payload, ctx):
    for name in payload:
        ctx.set_route_next([name, "last"])
        ctx.set_header("x-for", name)
        yield name


def cyclic(payload):
    value = []
    value.append(value)
    return value


def odd(payload):
    return {"value": {1, 2}} if payload == "inside" else object


def nan(payload):
    return {"value": float("nan")} if payload == "inside" else float("nan")


def sleep(payload):
    print("begun")
    time.sleep(payload)
    return "slept"


def spin(payload):
    print("begun")
    while True:
        pass


def say(payload):
    print(payload)
    print("grüße", file=sys.stderr)
    return "said"


def leave(payload):
    sys.exit(payload)


def stray(payload):
    threading.Thread(target=lambda: 1 / 0).start()
    return "started"


def collections(payload):
    return [gc.isenabled(), gc.get_threshold()[0]]


def startchild(payload):
    """A process that lives on, with every descriptor that can be inherited."""
    return subprocess.Popen(["sleep", "600"], close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).pid


def forkchild(payload):
    child = os.fork()
    if child == 0:
        time.sleep(600)
    return child


meeting = threading.Barrier(2, timeout=60)


def meet(payload):
    meeting.wait()
    return payload


arrived = None


async def meetlater(payload):
    """Two calls can meet only if they share one event loop."""
    global arrived
    if arrived is not None:
        arrived.set()
    else:
        arrived = asyncio.Event()
        await asyncio.wait_for(arrived.wait(), 60)
    return payload


class RateLimited(ConnectionError):
    pass


class Thing:
    def __init__(self, **fields):
        self.__dict__.update(fields)


class Headers:
    """Like the headers of some clients: only `get`."""

    def __init__(self, value):
        self.value = value

    def get(self, name):
        return self.value if name.lower() == "retry-after" else None


class Touchy(Exception):
    @property
    def status(self):
        raise RuntimeError("do not touch")


def put(target, path, value):
    *holders, last = path.split(".")
    for name in holders:
        if not hasattr(target, name):
            setattr(target, name, Thing())
        target = getattr(target, name)
    setattr(target, last, value)


def fail(payload):
    kind = payload["kind"]
    if kind == "plain":
        raise ValueError("bad value")
    if kind == "empty":
        raise ValueError()
    if kind == "touchy":
        raise Touchy("careful")
    if kind == "cause":
        try:
            inner = RateLimited("slow down")
            inner.status_code, inner.retry_after = 429, "Fri, 31 Dec 1999 23:59:59 GMT"
            raise inner
        except RateLimited as error:
            raise LookupError("no price") from error
    error = RateLimited("slow down")
    for path, value in payload.get("fields", {}).items():
        put(error, path, value)
    if "get" in payload:
        put(error, "response.headers", Headers(payload["get"]))
    raise error


async def faillater(payload):
    await asyncio.sleep(0)
    fail(payload)


def faileach(payload):
    yield 1
    fail(payload)


def run(payload, ctx):
    """Calls one of the handlers by name, so that one process serves a whole table of cases."""
    target = globals()[payload["do"]]
    return target(payload["with"], ctx) if payload.get("ctx") else target(payload["with"])
