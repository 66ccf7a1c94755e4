import { test } from 'vitest';

export type Languages = readonly (readonly [language: string, actor: string, command: string])[];

/**
 * One test for the runtimes of all languages, concurrently: it mostly waits for a delay or a timeout, and a single
 * sidecar processes its calls one after the other.
 */
export function testIn(languages: Languages, name: string, check: (actor: string) => Promise<void>): void {
  test(name, async () => {
    await Promise.all(
      languages.map(async ([language, actor]) => {
        try {
          await check(actor);
        } catch (error) {
          if (error instanceof Error) error.message = `${language}: ${error.message}`;
          throw error;
        }
      }),
    );
  });
}
