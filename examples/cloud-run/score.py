def score(payload):
    return {**payload, "score": len(payload.get("text", ""))}
