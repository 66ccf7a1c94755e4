import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { Code } from 'aws-cdk-lib/aws-lambda';
import type { FunctionCode } from '../infra/code/mesh-code.ts';
import { MeshStack } from '../infra/stacks/mesh-stack.ts';
import { readDeployEnvironment } from '../infra/stacks/read-environment.ts';
import { readMesh } from '../lib/assembly/mesh/read-mesh.ts';

/** Draws the layout of a mesh's dashboard from the CloudFormation template. */

interface Widget {
  readonly type: 'text' | 'metric';
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly properties: {
    readonly markdown?: string;
    readonly title?: string;
    readonly yAxis?: { readonly left?: { readonly label?: string } };
    readonly annotations?: { readonly horizontal?: readonly { readonly label: string }[] };
  };
}

const COLUMN = 42;
const ROW = 22;
const GAP = 3;

export function dashboardPicture(root: string): string {
  const widgets = widgetsOf(join(root, 'test/infra/meshes/letters'));
  const height = Math.max(...widgets.map((widget) => widget.y + widget.height)) * ROW;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${24 * COLUMN} ${height}" font-family="sans-serif">`,
    "<title>The layout of a mesh's dashboard</title>",
    `<rect width="${24 * COLUMN}" height="${height}" fill="#f4f5f7"/>`,
    ...widgets.flatMap((widget) => (widget.type === 'text' ? heading(widget) : graph(widget))),
    '</svg>',
    '',
  ].join('\n');
}

function heading({ x, y, properties }: Widget): readonly string[] {
  const title = (properties.markdown ?? '').replace(/^#+ /, '');
  return [
    `<text x="${x * COLUMN + 6}" y="${y * ROW + 16}" font-size="14" font-weight="bold" fill="#1b2530">${escaped(title)}</text>`,
  ];
}

function graph(widget: Widget): readonly string[] {
  const { properties } = widget;
  const left = widget.x * COLUMN + GAP;
  const top = widget.y * ROW + GAP;
  const width = widget.width * COLUMN - 2 * GAP;
  const height = widget.height * ROW - 2 * GAP;
  const [limit] = properties.annotations?.horizontal ?? [];
  const limitY = top + 46;
  return [
    `<rect x="${left}" y="${top}" width="${width}" height="${height}" rx="3" fill="#fff" stroke="#c6ccd4"/>`,
    `<text x="${left + 8}" y="${top + 18}" font-size="11" fill="#1b2530">${escaped(properties.title ?? '')}</text>`,
    `<text x="${left + 8}" y="${top + 32}" font-size="9" fill="#68727f">${escaped(properties.yAxis?.left?.label ?? '')}</text>`,
    `<path d="M${left + 10} ${top + 40}V${top + height - 12}H${left + width - 10}" fill="none" stroke="#9aa4b1"/>`,
    ...(limit === undefined
      ? []
      : [
          `<path d="M${left + 10} ${limitY}H${left + width - 10}" stroke="#b3261e" stroke-dasharray="5 3"/>`,
          `<text x="${left + 14}" y="${limitY - 3}" font-size="9" fill="#b3261e">${escaped(limit.label)}</text>`,
        ]),
  ];
}

function widgetsOf(folder: string): readonly Widget[] {
  const reading = readMesh(folder);
  const chosen = readDeployEnvironment(
    { prod: { region: 'eu-central-1', gateway: { callersAtOnce: 100 } } },
    'prod',
  );
  if (!('manifest' in reading) || !('environment' in chosen))
    throw new Error(`the mesh in ${folder} is not valid`);
  const stub: FunctionCode = { kind: 'zip', code: Code.fromInline('exports.handler = () => {}') };
  const stack = new MeshStack(new App(), 'Picture', {
    environment: chosen.environment,
    meshName: 'letters',
    manifest: reading.manifest,
    folder,
    code: { actor: () => stub, crew: () => stub, gateway: () => stub },
  });
  const [dashboard] = Object.values(
    Template.fromStack(stack).findResources('AWS::CloudWatch::Dashboard') as Record<string, Dashboard>,
  );
  const [, parts] = dashboard?.Properties.DashboardBody['Fn::Join'] ?? ['', []];
  // CloudFormation inserts names of queues and functions, which the picture does not show.
  return JSON.parse(parts.map((part) => (typeof part === 'string' ? part : 'name')).join('')).widgets;
}

interface Dashboard {
  readonly Properties: {
    readonly DashboardBody: { readonly 'Fn::Join': readonly [string, readonly unknown[]] };
  };
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
