import { dirname, resolve, sep } from 'node:path';
import { type BuildFailure, build, type OnResolveArgs, type Plugin, type PluginBuild } from 'esbuild';
import type { ImportGraph } from './import-graph.ts';
import { realFile } from './real-file.ts';

const CODE = /\.[cm]?[jt]sx?$/;
/** What `require` adds to a path. */
const ADDED = ['.js', '.json', '/index.js'];
/** Marks resolutions that the plugin itself requested. */
const OWN = { isOwn: true };

/**
 * The imports of these files, and of the files that they import. Packages in `node_modules` are not followed; packages of
 * a workspace, which are links to a folder outside of it, are. A file with a syntax error keeps its known imports.
 */
export async function nodeImports(entries: readonly string[], known: ImportGraph): Promise<ImportGraph> {
  const graph = new Map<string, string[]>();
  const files = entries.flatMap((entry) => {
    const file = realFile(entry);
    if (file === undefined) return [];
    // A link and the file that it refers to both belong to the handler.
    if (file !== entry) graph.set(entry, [file]);
    return [file];
  });
  if (files.length === 0) return graph;
  const broken = await brokenFiles([...new Set(files)], graph);
  for (const file of broken)
    graph.set(file, [...new Set([...(graph.get(file) ?? []), ...(known.get(file) ?? [])])]);
  return broken.size === 0 ? graph : withLost(graph, known);
}

/** What only a broken file imports was not visited, so its own imports are the known ones. */
function withLost(graph: Map<string, string[]>, known: ImportGraph): ImportGraph {
  return new Map<string, readonly string[]>([...known, ...graph]);
}

/** Fills the graph. Returns the files that could not be parsed. */
async function brokenFiles(files: string[], graph: Map<string, string[]>): Promise<ReadonlySet<string>> {
  try {
    await build({
      entryPoints: files,
      bundle: true,
      write: false,
      outdir: 'out',
      platform: 'node',
      format: 'esm',
      logLevel: 'silent',
      logLimit: 0,
      plugins: [collector(graph)],
      // As Node does, keep imports whose names are not used.
      tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
    });
    return new Set();
  } catch (error) {
    const { errors } = error as Partial<BuildFailure>;
    // esbuild itself ended, for example because the mesh is being stopped.
    if (errors === undefined) return new Set(files);
    return new Set(errors.flatMap(({ location }) => (location === null ? [] : [resolve(location.file)])));
  }
}

function collector(graph: Map<string, string[]>): Plugin {
  return {
    name: 'imports',
    setup: (bundler) => {
      bundler.onResolve({ filter: /.*/ }, async (request) => {
        if (request.kind === 'entry-point' || request.pluginData === OWN) return undefined;
        const { follow, paths } = await resolved(request, bundler);
        graph.set(request.importer, [...(graph.get(request.importer) ?? []), ...paths]);
        return follow === undefined ? { path: request.path, external: true } : { path: follow };
      });
      bundler.onLoad({ filter: /.*/ }, ({ path }) => {
        if (!graph.has(path)) graph.set(path, []);
        // Data has no imports, and a mistake in it is not a mistake in the code.
        return CODE.test(path) ? undefined : { contents: '', loader: 'js' };
      });
    },
  };
}

interface Resolved {
  /** The file whose imports are read next. */
  readonly follow?: string;
  /** The paths that belong to the importing file. */
  readonly paths: readonly string[];
}

async function resolved(request: OnResolveArgs, bundler: PluginBuild): Promise<Resolved> {
  const { path, kind, importer, resolveDir } = request;
  if (path.startsWith('node:')) return { paths: [] };
  const wanted = /^[./]/.test(path) ? resolve(dirname(importer), path) : undefined;
  // Almost all paths are complete, and resolving with esbuild takes longer.
  const file = wanted === undefined ? undefined : realFile(wanted);
  if (wanted !== undefined && file !== undefined)
    return { follow: file, paths: [...new Set([wanted, file])] };
  const result = await bundler.resolve(path, { kind, importer, resolveDir, pluginData: OWN });
  if (result.errors.length === 0 && !result.external && result.namespace === 'file') {
    if (wanted === undefined && isPackage(result.path)) return { paths: [] };
    return { follow: result.path, paths: [...new Set([wanted ?? result.path, result.path])] };
  }
  if (wanted === undefined) return { paths: [] };
  return { paths: kind === 'require-call' ? [wanted, ...ADDED.map((more) => wanted + more)] : [wanted] };
}

function isPackage(path: string): boolean {
  return path.split(sep).includes('node_modules');
}
