import time

print("loading")
time.sleep(600)


def run(payload):
    return payload
