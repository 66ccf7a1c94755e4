import { globSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Application, type TypeDocOptions } from 'typedoc';

/**
 * `npm run api`: writes API pages for everything that package.json exports to `reports/api`, or to the folder in the
 * first argument. Warnings, such as a link to something that does not exist, fail the command.
 */

const ROOT = join(import.meta.dirname, '..');
const out = process.argv[2] ?? join(ROOT, 'reports/api');

interface Package {
  readonly name: string;
  readonly version: string;
  readonly homepage: string;
  readonly exports: Readonly<Record<string, { readonly types: string }>>;
}

const {
  name: PACKAGE,
  version,
  homepage,
  exports,
} = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Package;

/** Source files by the path that they are imported with. In package.json, a star also matches slashes. */
const modules = new Map(
  Object.entries(exports).flatMap(([path, { types }]) => {
    const source = types.replace(/^\.\/dist\//, '').replace(/\.d\.ts$/, '.ts');
    const [before = '', after = ''] = source.split('*');
    const files = globSync(source.replace(/\*\.ts$/, '**/*.ts'), { cwd: ROOT });
    if (files.length === 0) throw new Error(`package.json: no source file for "${path}", expected ${source}`);
    return files.map((file) => {
      const star = file.slice(before.length, file.length - after.length);
      return [file, `${PACKAGE}${path.slice(1).replace('*', star)}`] as const;
    });
  }),
);

const options: TypeDocOptions = {
  name: 'Asya Serverless',
  entryPoints: [...modules.keys()].map((file) => join(ROOT, file)),
  tsconfig: join(ROOT, 'tsconfig.build.json'),
  out,
  readme: 'none',
  // Links to sources come from package.json, so that a checkout without a remote produces the same pages.
  disableGit: true,
  displayBasePath: ROOT,
  sourceLinkTemplate: `${homepage.replace(/#.*$/, '')}/blob/v${version}/{path}#L{line}`,
  includeVersion: true,
  // Members that constructs inherit from the CDK are documented there.
  excludeExternals: true,
  excludeInternal: true,
  // `npm run types` checks them.
  skipErrorChecking: true,
  // Whole folders are exported, and their files do not export every type that their functions use.
  validation: { notExported: false },
  treatWarningsAsErrors: true,
};

rmSync(out, { recursive: true, force: true });
const app = await Application.bootstrapWithPlugins(options);
const project = await app.convert();
if (project === undefined) process.exit(1);
for (const module of project.children ?? []) {
  const [source] = module.sources ?? [];
  module.name = modules.get(source?.fileName ?? '') ?? module.name;
}
app.validate(project);
await app.generateOutputs(project);
process.exitCode = app.logger.hasErrors() || app.logger.hasWarnings() ? 1 : 0;
