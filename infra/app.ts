/** The CDK app. The constructs are not there yet, and an app without stacks would only look as if it worked. */
console.error('cdk: not there yet; the constructs come after the local mesh. README.md says what is there.');
process.exitCode = 1;
