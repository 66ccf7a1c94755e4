"""A handler whose payload defines what it does."""

import atexit
import os
import pathlib
import signal
import subprocess
import sys
import time

if "PID_FILE" in os.environ:
    with open(os.environ["PID_FILE"], "a") as file:
        file.write(f"{os.getpid()}\n")


@atexit.register
def say_goodbye():
    """What a handler does before its process ends: it releases its resources."""
    if "GOODBYE_FILE" in os.environ:
        time.sleep(0.3)
        pathlib.Path(os.environ["GOODBYE_FILE"]).write_text("goodbye")


class ThrottledError(Exception):
    def __init__(self, message, status_code=None, retry_after=None):
        super().__init__(message)
        if status_code is not None:
            self.status_code = status_code
        if retry_after is not None:
            self.retry_after = retry_after


class SlowDownError(ThrottledError):
    pass


class CalmDownError(ThrottledError):
    pass


class UnmatchedError(Exception):
    pass


ERRORS = {
    "ValueError": ValueError,
    "KeyError": KeyError,
    "TypeError": TypeError,
    "RuntimeError": RuntimeError,
    "ThrottledError": ThrottledError,
    "SlowDownError": SlowDownError,
    "CalmDownError": CalmDownError,
    "UnmatchedError": UnmatchedError,
}


def error_from(payload):
    extra = {key: payload[key] for key in ("status_code", "retry_after") if key in payload}
    return ERRORS[payload["error"]](payload.get("message", "as requested"), **extra)


def count(payload):
    """How often it was called with this counter, including this call. The count survives the process."""
    # Appended, never rewritten: a process killed while it rewrites the file would leave it empty.
    with open(payload["counter"], "a") as file:
        file.write("x")
    return os.path.getsize(payload["counter"])


def handle(payload):
    do = payload.get("do", "value")
    if "counter" in payload and count(payload) > payload.get("times", 1):
        return payload.get("value", "done")
    if do == "value":
        return payload["value"]
    if do == "raise":
        raise error_from(payload)
    if do == "sleep":
        time.sleep(payload["seconds"])
        return payload.get("value", "slept")
    if do == "wait":
        while not os.path.exists(payload["file"]):
            time.sleep(0.02)
        return payload.get("value", "waited")
    if do == "hang":
        time.sleep(600)
    if do == "spin":
        while True:
            pass
    if do == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if do == "exit":
        os._exit(payload.get("status", 3))
    if do == "grandchild":
        child = subprocess.Popen(["sleep", "600"])
        pathlib.Path(payload["pid_file"]).write_text(f"{child.pid}\n")
        time.sleep(600)
    if do == "yield":
        return (item for item in payload["items"])
    if do == "big":
        return payload.get("with", "x") * payload["bytes"]
    if do == "print":
        print(payload["text"])
        print(payload["text"], file=sys.stderr)
        return "printed"
    if do == "environment":
        return dict(os.environ)
    raise AssertionError(f"unknown behaviour: {do}")


def rewrite(payload, context):
    """Sets the next actors, and returns what the runtime passed about the call."""
    if "error" in payload:
        raise error_from(payload)
    if "next" in payload:
        context.set_route_next(payload["next"])
    if payload.get("do") == "empty":
        return None
    return {
        "envelope_id": context.envelope_id,
        "attempt": context.attempt,
        "deadline": deadline_text(context.deadline),
        "traceparent": context.traceparent,
    }


def deadline_text(deadline):
    return None if deadline is None else deadline.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def attempt(run):
    """Ignores the error of something that must not be possible."""
    try:
        run()
    except ValueError:
        pass


def tamper(payload, context):
    """Tries to change fields that belong to the sidecar."""
    for name in list(context.headers):
        attempt(lambda: context.remove_header(name))
    for name in ("traceparent", "x-asya-task"):
        attempt(lambda: context.set_header(name, "forged"))
    context.set_header("colour", "red")
    context.envelope_id, context.parent_id, context.hop = "forged", "forged", 99
    if "next" in payload:
        context.set_route_next(payload["next"])
    return "tampered"


# Before any thread starts, because threads inherit the signal mask.
if os.environ.get("IGNORE_SIGTERM") == "1":
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
