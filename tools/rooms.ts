import { relative } from 'node:path';
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import { APART, ROOMS, type Room } from './rooms-table.ts';

/** `npm run rooms`: refuses every import that the table of rooms does not allow. */

type Rule = NonNullable<NonNullable<Parameters<typeof cruise>[1]>['ruleSet']>['forbidden'];

const SOURCES = ['lib', 'functions', 'infra', 'bench', 'runtimes', 'examples', 'templates', 'tools', 'test'];

/** Packages of types for what the platform brings: there is nothing of them to resolve when it runs. */
const TYPES_ALONE = ['^aws-lambda$'];

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
      comment: `the folders of ${folder} do not know each other`,
      severity: 'error' as const,
      from: { path: `^${folder}/([^/]+)/` },
      to: { path: `^${folder}/`, pathNot: `^${folder}/$1/` },
    })),
    {
      name: 'no-room',
      comment: 'every source file stands in a room of tools/rooms-table.ts',
      severity: 'error' as const,
      from: { pathNot: rooms.map(({ room }) => `^${room}/`) },
      to: { path: '.' },
    },
    { name: 'circle', comment: 'no circles', severity: 'error' as const, from: {}, to: { circular: true } },
    {
      name: 'unresolvable',
      comment: 'what is imported has to be there',
      severity: 'error' as const,
      from: {},
      to: { couldNotResolve: true, pathNot: TYPES_ALONE },
    },
  ];
}

/** A room inside another has a row of its own, and that one counts. */
function roomsWithin({ room }: Room, rooms: readonly Room[]): string[] {
  return rooms.filter((other) => other.room.startsWith(`${room}/`)).map((other) => `^${other.room}/`);
}

function allowedPaths(room: Room): string[] {
  const packages = room.packages.flatMap((name) => {
    if (name === '*') return ['^node_modules/', ...TYPES_ALONE];
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

/** Every import below the folder that breaks a rule, and how many were looked at: none at all would be no check. */
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
      // A checkout may share another one's packages by a link.
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
  return {
    violations: summary.violations.map(({ rule, from, to }) => ({
      rule: rule.name,
      from,
      to,
      why: rulesFromTable(rooms).find(({ name }) => name === rule.name)?.comment ?? '',
    })),
    modules: ours.length,
    imports: ours.reduce((sum, { dependencies }) => sum + dependencies.length, 0),
  };
}

if (import.meta.main) {
  const { violations, modules, imports } = await findViolations(process.cwd());
  for (const { rule, from, to, why } of violations)
    console.error(`${rule}: ${from} -> ${relative('.', to)} (${why})`);
  if (imports === 0) console.error('rooms: no import was found at all, so nothing was checked');
  console.log(`rooms: ${imports} imports in ${modules} files, ${violations.length} refused`);
  process.exitCode = violations.length === 0 && imports > 0 ? 0 : 1;
}
