import { relative } from 'node:path';
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import { APART, ROOMS, type Room } from './rooms-table.ts';

/** `npm run rooms`: rejects every import that the table of rooms does not allow. */

type Rule = NonNullable<NonNullable<Parameters<typeof cruise>[1]>['ruleSet']>['forbidden'];

const SOURCES = ['lib', 'functions', 'infra', 'bench', 'runtimes', 'examples', 'templates', 'tools', 'test'];

/** Packages that contain only types: they cannot be resolved at run time. */
const TYPES_ONLY = ['^aws-lambda$'];

/** This package, as a template imports it. */
const OWN = '^asya-serverless/';

function rulesFromTable(rooms: readonly Room[]): NonNullable<Rule> {
  return [
    ...rooms.map((room) => ({
      name: `room:${room.room}`,
      comment: `${room.room} may import ${[...room.rooms, ...room.packages].join(', ') || 'itself only'}`,
      severity: 'error' as const,
      from: { path: `^${room.room}/`, pathNot: roomsWithin(room, rooms) },
      to: { pathNot: allowedPaths(room) },
    })),
    ...APART.map((folder) => ({
      name: `apart:${folder}`,
      comment: `the folders of ${folder} do not import each other`,
      severity: 'error' as const,
      from: { path: `^${folder}/([^/]+)/` },
      to: { path: `^${folder}/`, pathNot: `^${folder}/$1/` },
    })),
    {
      name: 'circle',
      comment: 'no import cycles',
      severity: 'error' as const,
      from: {},
      to: { circular: true },
    },
    {
      name: 'unresolvable',
      comment: 'an imported file or package must exist',
      severity: 'error' as const,
      from: {},
      to: { couldNotResolve: true, pathNot: [...TYPES_ONLY, OWN] },
    },
  ];
}

/** A room inside another follows its own row only. */
function roomsWithin({ room }: Room, rooms: readonly Room[]): string[] {
  return rooms.filter((other) => other.room.startsWith(`${room}/`)).map((other) => `^${other.room}/`);
}

function allowedPaths(room: Room): string[] {
  const packages = room.packages.flatMap((name) => {
    if (name === '*') return ['^node_modules/', ...TYPES_ONLY];
    if (name === 'node:*') return ['^node:', ...NODE_MODULES];
    return [`^node_modules/${name}/`, `^node_modules/@types/${name}/`, `^${name}$`];
  });
  return [`^${room.room}/`, ...room.rooms.map((name) => `^${name}/`), ...packages];
}

const { builtinModules } = await import('node:module');
const NODE_MODULES = builtinModules.map((name) => `^${name}$`);

export interface Violation {
  readonly rule: string;
  readonly from: string;
  readonly to: string;
  readonly why: string;
}

/** All imports in the folder that break a rule, and the number of checked imports. */
export async function findViolations(
  root: string,
  rooms: readonly Room[] = ROOMS,
): Promise<{ violations: Violation[]; modules: number; imports: number }> {
  const { existsSync } = await import('node:fs');
  const { join } = await import('node:path');
  const sources = SOURCES.filter((folder) => existsSync(join(root, folder)));
  const result = await cruise(
    sources,
    {
      baseDir: root,
      validate: true,
      ruleSet: { forbidden: rulesFromTable(rooms) },
      doNotFollow: { path: 'node_modules' },
      // node_modules may be a symbolic link to that of another checkout.
      preserveSymlinks: true,
      exclude: { path: '^test/rooms/planted/' },
      tsPreCompilationDeps: true,
      enhancedResolveOptions: {
        extensions: ['.ts', '.js', '.mjs', '.json'],
        conditionNames: ['import', 'node', 'types'],
        exportsFields: ['exports'],
      },
    },
    {},
  );
  const { summary, modules } = result.output as ICruiseResult;
  const ours = modules.filter(({ source }) => SOURCES.some((folder) => source.startsWith(`${folder}/`)));
  const imported = summary.violations.map(({ rule, from, to }) => ({
    rule: rule.name,
    from,
    to,
    why: rulesFromTable(rooms).find(({ name }) => name === rule.name)?.comment ?? '',
  }));
  const withoutRoom = ours
    .filter(({ source }) => !rooms.some(({ room }) => source.startsWith(`${room}/`)))
    .map(({ source }) => ({
      rule: 'no-room',
      from: source,
      to: source,
      why: 'every source file belongs to a room of tools/rooms-table.ts',
    }));
  return {
    violations: [...imported, ...withoutRoom],
    modules: ours.length,
    imports: ours.reduce((sum, { dependencies }) => sum + dependencies.length, 0),
  };
}

if (import.meta.main) {
  const { violations, modules, imports } = await findViolations(process.cwd());
  for (const { rule, from, to, why } of violations)
    console.error(`${rule}: ${from} -> ${relative('.', to)} (${why})`);
  if (imports === 0) console.error('rooms: found no imports, so nothing was checked');
  console.log(`rooms: ${imports} imports in ${modules} files, ${violations.length} rejected`);
  process.exitCode = violations.length === 0 && imports > 0 ? 0 : 1;
}
