/** A variable of the handler whose value is stored in another system. */
export interface SecretSource {
  readonly variable: string;
  /** For logs: `secret my/openai of Secrets Manager`. */
  readonly description: string;
  /** Reads the current value. Never rejects. */
  read(): Promise<SecretReading>;
}

export type SecretReading =
  | { readonly ok: true; readonly value: string }
  /** Why it cannot be read, for logs. Never contains the value or a part of it. */
  | { readonly ok: false; readonly problem: string };
