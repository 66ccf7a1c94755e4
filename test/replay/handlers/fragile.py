"""A handler that is broken until somebody mends it, and that some payloads break for ever."""

import os


def score(payload):
    if payload.get("poison") or not os.path.exists(payload["mended_by"]):
        raise ValueError("no such user: %d" % payload["n"])
    return {"n": payload["n"], "score": 1}
