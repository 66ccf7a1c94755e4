"""The same handlers as in context-handlers.ts, for the cases of the `asya:` protocol. A payload lists what to do."""

import time

from asya import NonRetryable, RetryAfter


def facts(payload, ctx):
    return {
        "id": ctx.envelope_id,
        "parent": ctx.parent_id,
        "actor": ctx.actor,
        "hop": ctx.hop,
        "attempt": ctx.attempt,
        "max": ctx.max_attempts,
        "deadline": ctx.deadline and ctx.deadline.isoformat().replace("+00:00", "Z"),
        "route": ctx.route._asdict(),
        "headers": dict(ctx.headers),
        "traceparent": ctx.traceparent,
        "tracestate": ctx.tracestate,
        "error": ctx.error and ctx.error._asdict(),
        "key": ctx.idempotency_key,
        "hasTimeLeft": 0 < ctx.time_left() <= 60,
        "cancelled": ctx.cancelled(),
    }


#: The contexts of earlier calls.
kept = []


def act(step, ctx):
    kind, *values = step
    if kind == "next":
        ctx.set_route_next(*values)
    elif kind == "set":
        ctx.set_header(*values)
    elif kind == "remove":
        ctx.remove_header(*values)
    elif kind == "progress":
        ctx.progress(**values[0])
    elif kind == "fail":
        raise ValueError(values[0])
    elif kind == "keep":
        kept.append(ctx)
    elif kind == "late":
        kept[-1].progress(**values[0])
    elif kind == "untilcancelled":
        print("begun\n", end="")  # in one piece, also if other threads print
        while not ctx.cancelled():
            time.sleep(0.01)


def value(payload, ctx):
    for step in payload["steps"]:
        act(step, ctx)
    return payload.get("value")


def items(payload, ctx):
    for step in payload["steps"]:
        if step[0] == "yield":
            yield step[1]
        else:
            act(step, ctx)


async def lateitems(payload, ctx):
    for item in items(payload, ctx):
        yield item


def keptcancelled(payload, ctx):
    return kept[-1].cancelled()


HANDLERS = {one.__name__: one for one in (facts, value, items, lateitems, keptcancelled)}


def run(payload, ctx):
    return HANDLERS[payload["do"]](payload, ctx)


class NoPages(NonRetryable):
    pass


def refuse(payload, ctx):
    if payload == "later":
        raise RetryAfter(30, "the quota is used up")
    if payload == "unprintable progress":
        ctx.progress(percent="a lot", message=3, data=object())
        return "fine"
    raise NoPages("the document has no pages")
