"""The plain handler in Python: calls the function in-process, and sends the batch with boto3."""

import json
import os
from datetime import datetime, timezone

import boto3
from scoring import score

client = boto3.client("sqs")


def next_message(body):
    envelope = json.loads(body)
    route = envelope["route"]
    coming = route["next"]
    now = datetime.now(timezone.utc).isoformat()
    return json.dumps(
        {
            **envelope,
            "payload": score(envelope["payload"]),
            "route": {
                "prev": [*route["prev"], route["curr"]],
                "curr": coming[0] if coming else "",
                "next": coming[1:],
            },
            "status": {**envelope["status"], "phase": "pending", "actor": route["curr"], "updated_at": now},
        }
    )


def handler(event, context):
    entries, failed = [], []
    for record in event["Records"]:
        try:
            entries.append({"Id": record["messageId"], "MessageBody": next_message(record["body"])})
        except Exception as error:
            print(error)
            failed.append(record["messageId"])
    if entries:
        sent = client.send_message_batch(QueueUrl=os.environ["NEXT_QUEUE_URL"], Entries=entries)
        failed += [entry["Id"] for entry in sent.get("Failed", [])]
    return {"batchItemFailures": [{"itemIdentifier": one} for one in failed]}
