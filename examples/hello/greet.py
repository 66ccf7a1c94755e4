class NoName(Exception):
    pass


def greet(payload):
    """What it returns is the payload of the next actor."""
    # The error's type chooses the policy: see the rules in actors.yaml.
    if not payload.get("name"):
        raise NoName('nobody to greet: the payload has no "name"')
    return {"greeting": f"Hello, {payload['name']}"}
