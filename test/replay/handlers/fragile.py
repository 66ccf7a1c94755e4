"""A handler that fails until its fix file exists, and always for payloads with `poison`."""

import os


def score(payload):
    if payload.get("poison") or not os.path.exists(payload["fix_file"]):
        raise ValueError("no such user: %d" % payload["n"])
    return {"n": payload["n"], "score": 1}
