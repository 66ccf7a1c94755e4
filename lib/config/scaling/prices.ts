/** List price of one kind of use. */
export interface Price {
  readonly service: 'SQS' | 'Lambda' | 'DynamoDB' | 'S3' | 'CloudWatch';
  /** What is counted, in the words of a bill. */
  readonly unit: string;
  /** How many units the price is for. */
  readonly per: number;
  readonly dollars: number;
}

/** Where and when the prices below were valid: first tier, without the free tier, savings plans and discounts. */
export const PRICES_REGION = 'us-east-1';
export const PRICES_DATE = '2026-06';

const MILLION = 1_000_000;

/** The only prices of this project: the scaling model and the cost benchmark both use them. */
export const PRICES = {
  /** SQS bills each 64 KB of a request as a request. A batch of ten small messages is one. */
  sqsRequests: { service: 'SQS', unit: 'request (64 KB)', per: MILLION, dollars: 0.4 },
  lambdaRequests: { service: 'Lambda', unit: 'invocation', per: MILLION, dollars: 0.2 },
  lambdaGbSeconds: { service: 'Lambda', unit: 'GB-second (arm64)', per: MILLION, dollars: 13.3334 },
  /** A write unit covers 1 KB. Every index that changes costs its own. */
  dynamodbWrites: { service: 'DynamoDB', unit: 'write unit, on demand', per: MILLION, dollars: 0.625 },
  /** A read unit covers 4 KB, or 8 KB when the read is eventually consistent. */
  dynamodbReads: { service: 'DynamoDB', unit: 'read unit, on demand', per: MILLION, dollars: 0.125 },
  dynamodbGbMonths: { service: 'DynamoDB', unit: 'GB-month', per: 1, dollars: 0.25 },
  /** PUT, COPY, POST and LIST. DELETE is free. */
  s3Puts: { service: 'S3', unit: 'PUT, POST, LIST', per: MILLION, dollars: 5 },
  s3Gets: { service: 'S3', unit: 'GET', per: MILLION, dollars: 0.4 },
  s3GbMonths: { service: 'S3', unit: 'GB-month', per: 1, dollars: 0.023 },
  /** Logs, and metrics in the embedded metric format, which are log lines. */
  logGb: { service: 'CloudWatch', unit: 'GB of logs', per: 1, dollars: 0.5 },
  metricMonths: { service: 'CloudWatch', unit: 'metric-month', per: 1, dollars: 0.3 },
} as const satisfies Readonly<Record<string, Price>>;

export type PricedUnit = keyof typeof PRICES;

/** How much of each unit was used. A missing unit was not used. */
export type Usage = Readonly<Partial<Record<PricedUnit, number>>>;

export const PRICED_UNITS = Object.keys(PRICES) as readonly PricedUnit[];

/** What some of one unit costs. */
export function dollarsFor(unit: PricedUnit, amount: number): number {
  const { per, dollars } = PRICES[unit];
  return (amount / per) * dollars;
}

/** What everything together costs. */
export function dollarsOf(usage: Usage): number {
  return PRICED_UNITS.reduce((sum, unit) => sum + dollarsFor(unit, usage[unit] ?? 0), 0);
}
