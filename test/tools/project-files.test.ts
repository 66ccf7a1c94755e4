import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

const ROOT = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const PACKAGE = JSON.parse(read('package.json'));

describe('CHANGELOG.md', () => {
  const text = read('CHANGELOG.md');
  const headings = [...text.matchAll(/^## (.*)$/gm)].map(([, heading = '']) => heading);

  it('starts with the unreleased changes', () => {
    expect(headings[0]).toBe('[Unreleased]');
  });

  it('has a date for every other version, newest first', () => {
    const versions = headings.slice(1);
    for (const heading of versions) expect(heading).toMatch(/^\[\d+\.\d+\.\d+\] - \d{4}-\d{2}-\d{2}$/);
    const dates = versions.map((heading) => heading.slice(-10));
    expect(dates).toEqual(dates.toSorted().reverse());
  });

  it('describes the version in package.json', () => {
    expect(headings.some((heading) => heading.startsWith(`[${PACKAGE.version}] - `))).toBe(true);
  });

  it('groups changes by the kinds of Keep a Changelog', () => {
    const groups = [...text.matchAll(/^### (.*)$/gm)].map(([, group = '']) => group);
    const known = ['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security'];
    expect(groups.filter((group) => !known.includes(group))).toEqual([]);
  });

  it('links every version', () => {
    for (const heading of headings) {
      const [name = ''] = heading.split(' - ');
      expect(text).toContain(`\n${name}: ${repositoryUrl()}/`);
    }
  });
});

describe('package.json', () => {
  it('contains the URLs of the project', () => {
    expect(PACKAGE.homepage).toBe(`${repositoryUrl()}#readme`);
    expect(PACKAGE.bugs.url).toBe(`${repositoryUrl()}/issues`);
    expect(PACKAGE.keywords.length).toBeGreaterThan(5);
  });

  it('pins exact versions', () => {
    const versions: readonly string[] = Object.values({
      ...PACKAGE.dependencies,
      ...PACKAGE.devDependencies,
    });
    expect(versions.filter((version) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
  });
});

describe('.github', () => {
  const workflows = globSync('.github/workflows/*.yml', { cwd: ROOT });

  it('runs the gate on every push and pull request', () => {
    const { on, permissions, concurrency, jobs } = parse(read('.github/workflows/ci.yml'));
    expect(Object.keys(on)).toEqual(['push', 'pull_request']);
    expect(permissions).toEqual({ contents: 'read' });
    expect(concurrency.group).toContain('github.ref');
    expect(jobs.gate['timeout-minutes']).toBe(30);
    expect(jobs.gate.steps.map((step: { run?: string }) => step.run)).toContain('.ci/run');
  });

  it.each(workflows)('%s pins actions by major version', (path) => {
    const used = [...read(path).matchAll(/uses: (.*)$/gm)].map(([, action = '']) => action);
    expect(used.length).toBeGreaterThan(0);
    for (const action of used) expect(action).toMatch(/^[\w-]+\/[\w-]+@v\d+$/);
  });

  it('ignores updates only of packages that are used', () => {
    const [npm] = parse(read('.github/dependabot.yml')).updates;
    const used = Object.keys({ ...PACKAGE.dependencies, ...PACKAGE.devDependencies, ...PACKAGE.overrides });
    const ignored: readonly string[] = npm.ignore.map((entry: { 'dependency-name': string }) =>
      entry['dependency-name'].replace(/\*$/, ''),
    );
    expect(ignored.filter((name) => !used.some((other) => other.startsWith(name)))).toEqual([]);
  });

  it.each(globSync('.github/ISSUE_TEMPLATE/*.yml', { cwd: ROOT }))('%s is valid YAML', (path) => {
    expect(parse(read(path))).toBeTypeOf('object');
  });
});

function repositoryUrl(): string {
  return PACKAGE.repository.url.replace(/^git\+/, '').replace(/\.git$/, '');
}
