class NoName(Exception):
    pass


def greet(payload):
    """The returned value is the payload of the next actor."""
    # The rules in actors.yaml choose a policy by error type.
    if not payload.get("name"):
        raise NoName('the payload has no "name"')
    return {"greeting": f"Hello, {payload['name']}"}
