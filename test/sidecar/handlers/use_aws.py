import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

session = boto3.Session()


def use_aws(payload):
    """Writes an object and tries to send to a queue. Returns how both ended, and the access key that was used."""
    bucket, queue = payload["bucket"], payload["queueUrl"]
    return {
        "put": outcome(lambda: client("s3").put_object(Bucket=bucket, Key="python.txt", Body=b"hello")),
        "send": outcome(lambda: client("sqs").send_message(QueueUrl=queue, MessageBody="hello")),
        "key": access_key(),
    }


def client(service):
    # Not at import: a client looks for credentials when it is created.
    return session.client(service, config=Config(retries={"total_max_attempts": 1}))


def access_key():
    try:
        credentials = session.get_credentials()
        return credentials.get_frozen_credentials().access_key if credentials else "none"
    except Exception:
        return "none"


def outcome(request):
    """`done`, the status of a refusal, or the name of the error."""
    try:
        request()
        return "done"
    except ClientError as error:
        return str(error.response["ResponseMetadata"]["HTTPStatusCode"])
    except Exception as error:
        return type(error).__name__
