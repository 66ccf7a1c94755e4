async def shout(payload):
    """The last of its route: what it returns is the flow's result."""
    return {"greeting": payload["greeting"].upper() + "!"}
