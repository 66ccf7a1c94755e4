"""Lambda's runtime for Python, as far as a handler notices. The counterpart of bootstrap.cjs."""

import http.client
import importlib
import json
import os
import sys
import time

ROOT = "/2018-06-01/runtime"


class Context:
    def __init__(self, headers):
        self.aws_request_id = headers["lambda-runtime-aws-request-id"]
        self._ends_at = int(headers["lambda-runtime-deadline-ms"])

    def get_remaining_time_in_millis(self):
        return self._ends_at - int(time.time() * 1000)


def request(connection, method, path, body=None):
    connection.request(method, f"{ROOT}/{path}", body)
    response = connection.getresponse()
    return response.headers, response.read()


def error_of(error):
    return json.dumps({"errorType": type(error).__name__, "errorMessage": str(error)})


def main():
    connection = http.client.HTTPConnection(os.environ["AWS_LAMBDA_RUNTIME_API"])
    sys.path.insert(0, os.environ["LAMBDA_TASK_ROOT"])
    module, name = os.environ["_HANDLER"].split(".")
    try:
        handler = getattr(importlib.import_module(module), name)
    except Exception as error:
        request(connection, "POST", "init/error", error_of(error))
        raise
    while True:
        headers, text = request(connection, "GET", "invocation/next")
        context = Context(headers)
        path = f"invocation/{context.aws_request_id}"
        try:
            answer = json.dumps(handler(json.loads(text), context))
            request(connection, "POST", f"{path}/response", answer)
        except Exception as error:
            request(connection, "POST", f"{path}/error", error_of(error))


main()
