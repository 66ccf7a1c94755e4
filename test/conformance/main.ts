import { basename } from 'node:path';
import { errorText } from '../../lib/core/text/error-text.ts';
import { runFile } from './run-file.ts';

/** `npm run conformance -- FILE...` */

const MAX_DIFFERENCES_SHOWN = 6;

function main(paths: readonly string[]): number {
  if (paths.length === 0) {
    console.error(
      'conformance: name at least one case file, for example ../shared/spec/conformance/decisions.json',
    );
    return 2;
  }
  let passed = 0;
  let failed = 0;
  let unreadable = 0;
  for (const path of paths) {
    try {
      const results = runFile(path);
      const failures = results.filter(({ differences }) => differences.length > 0);
      for (const { name, differences } of failures) {
        console.log(`FAIL ${basename(path)} ${name}`);
        for (const difference of differences.slice(0, MAX_DIFFERENCES_SHOWN))
          console.log(`    ${difference}`);
      }
      console.log(`${basename(path)}: ${results.length} cases, ${failures.length} failed`);
      passed += results.length - failures.length;
      failed += failures.length;
    } catch (error) {
      console.log(`FAIL ${path}: ${errorText(error)}`);
      unreadable += 1;
    }
  }
  console.log(`${passed} passed, ${failed + unreadable} failed`);
  return failed + unreadable === 0 && passed > 0 ? 0 : 1;
}

process.exitCode = main(process.argv.slice(2));
