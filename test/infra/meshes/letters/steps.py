def store(payload):
    return payload
