import type { Message, MessageAttributeValue } from '@aws-sdk/client-sqs';
import type { SQSEvent, SQSMessageAttribute, SQSRecord, SQSRecordAttributes } from 'aws-lambda';
import { defined } from '../../core/text/defined.ts';

/** The event that Lambda builds from received SQS messages. */
export function sqsEvent(messages: readonly Message[], queueArn: string): SQSEvent {
  return { Records: messages.map((message) => recordFromMessage(message, queueArn)) };
}

function recordFromMessage(message: Message, queueArn: string): SQSRecord {
  const { MessageAttributes = {}, MD5OfMessageAttributes } = message;
  return {
    messageId: message.MessageId ?? '',
    receiptHandle: message.ReceiptHandle ?? '',
    body: message.Body ?? '',
    attributes: { ...message.Attributes } as unknown as SQSRecordAttributes,
    messageAttributes: Object.fromEntries(
      Object.entries(MessageAttributes).map(([name, value]) => [name, attributeFrom(value)]),
    ),
    md5OfBody: message.MD5OfBody ?? '',
    ...defined({ md5OfMessageAttributes: MD5OfMessageAttributes }),
    eventSource: 'aws:sqs',
    eventSourceARN: queueArn,
    awsRegion: queueArn.split(':')[3] ?? '',
  };
}

function attributeFrom({
  DataType = '',
  StringValue,
  BinaryValue,
}: MessageAttributeValue): SQSMessageAttribute {
  return {
    dataType: DataType as SQSMessageAttribute['dataType'],
    ...defined({ stringValue: StringValue }),
    ...(BinaryValue !== undefined && { binaryValue: Buffer.from(BinaryValue).toString('base64') }),
    stringListValues: [],
    binaryListValues: [],
  };
}

/** Lambda's limit for the payload of an invocation: 6 MB. */
const MAX_BYTES = 6_000_000;
/** Size of a record without its body. */
const RECORD_BYTES = 1_000;

/** Splits messages into batches that fit into one invocation each, in order. A single message always fits. */
export function batchesThatFit(messages: readonly Message[], mostBytes = MAX_BYTES): readonly Message[][] {
  const batches: Message[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const message of messages) {
    const own = RECORD_BYTES + Buffer.byteLength(message.Body ?? '');
    if (bytes + own > mostBytes) {
      batches.push([]);
      bytes = 0;
    }
    batches.at(-1)?.push(message);
    bytes += own;
  }
  return batches;
}
