def shout(payload):
    """The last actor of the route: the returned value is the flow's result."""
    return {"greeting": payload["greeting"].upper() + "!"}
