import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, closeSync, constants, globSync, openSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { connect } from 'amqplib';
import { freePort, isFree } from '../sidecar/free-port.ts';

/** A RabbitMQ of the test's own: its node, its ports, its directories, on this machine alone. */
export interface RabbitMqBroker {
  readonly port: number;
  readonly url: string;
  /** At once and without a word, as the kernel or a power cut does it; its data stays. */
  kill(): Promise<void>;
  /** Again on the same port, with its data. Resolves when it takes connections. */
  start(): Promise<void>;
  /** What an Erlang expression comes to on the node, by JSON; for what cannot be asked over AMQP. */
  evaluate(expression: string): Promise<unknown>;
  /** Leaves nothing running and nothing on disk. */
  close(): Promise<void>;
}

const PROGRAMS = '/usr/lib/rabbitmq/bin';
/** Comes with Erlang, and answers in milliseconds: `rabbitmqctl` starts a whole node for each question. */
const CALL_PROGRAM = '/usr/lib/erlang/lib/erl_interface-*/bin/erl_call';
/**
 * The node, and the port mapper that it would otherwise leave behind as a daemon. All of them go with one of them, and
 * with the test: however that ends, its end of the pipe is closed.
 */
const TOGETHER = [
  'epmd -port "$ERL_EPMD_PORT" -address 127.0.0.1 &',
  '("$0"; kill -KILL 0) &',
  'cat >/dev/null',
  'kill -KILL 0',
].join('\n');
/** A busy machine takes its time to start an Erlang node. */
const PATIENCE_MS = 120_000;

/** Why it cannot be had here; undefined where it can. */
export function rabbitMqAbsence(): string | undefined {
  try {
    accessSync(join(PROGRAMS, 'rabbitmq-server'), constants.X_OK);
    return undefined;
  } catch {
    return `there is no ${PROGRAMS}/rabbitmq-server; test/support/install-rabbitmq.sh installs it on Debian`;
  }
}

export async function startRabbitMq(): Promise<RabbitMqBroker> {
  const folder = await mkdtemp(join(tmpdir(), 'asya-rabbitmq-'));
  const ports = [await freePort(), await freePort(), await freePort()] as const;
  const [port, distributionPort, epmdPort] = ports;
  const env = await environmentFor(folder, port, distributionPort, epmdPort);
  const log = join(folder, 'server.log');
  const url = `amqp://guest:guest@127.0.0.1:${port}/`;
  let group: ChildProcess | undefined;

  const hasEnded = () => group === undefined || group.exitCode !== null || group.signalCode !== null;

  async function start(): Promise<void> {
    const output = openSync(log, 'a');
    group = spawn('/bin/sh', ['-c', TOGETHER, join(PROGRAMS, 'rabbitmq-server')], {
      env,
      cwd: folder,
      detached: true,
      stdio: ['pipe', output, output],
    });
    closeSync(output);
    const endsAt = Date.now() + PATIENCE_MS;
    while (!(await takesConnections(url))) {
      if (!hasEnded() && Date.now() < endsAt) {
        await pause(200);
        continue;
      }
      const what = hasEnded() ? 'ended' : `was not ready within ${PATIENCE_MS} ms`;
      throw new Error(`RabbitMQ ${what}: ${readFileSync(log, 'utf8').slice(-2_000)}`);
    }
  }

  async function kill(): Promise<void> {
    if (group?.pid !== undefined && !hasEnded()) {
      const gone = once(group, 'exit');
      process.kill(-group.pid, 'SIGKILL');
      await gone;
    }
    // The shell may be gone a moment before the node and the port mapper, which hold the ports.
    await Promise.all(ports.map(untilFree));
  }

  let lastAnswer: Promise<unknown> = Promise.resolve();

  /** One after the other: every caller takes the same name, and the node refuses a second of that name. */
  function evaluate(expression: string): Promise<unknown> {
    const answer = lastAnswer.then(() => ask(expression));
    lastAnswer = answer.catch(() => {});
    return answer;
  }

  async function ask(expression: string): Promise<unknown> {
    const [program = 'erl_call'] = globSync(CALL_PROGRAM);
    const told = ['-sname', env['RABBITMQ_NODENAME'] ?? '', '-timeout', String(PATIENCE_MS / 1000), '-e'];
    const calling = promisify(execFile)(program, told, { env, cwd: folder });
    calling.child.stdin?.end(
      `Is = begin ${expression} end, base64:encode_to_string(rabbit_json:encode(Is)).\n`,
    );
    const { stdout } = await calling;
    // In base64, because it prints quotes inside of quotes as they are.
    const [, text] = /^\{ok, "(.*)"\}$/.exec(stdout.trim()) ?? [];
    if (text === undefined) throw new Error(`${expression} comes to ${stdout}`);
    return JSON.parse(Buffer.from(text, 'base64').toString());
  }

  const close = async () => {
    await kill();
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  };

  try {
    await start();
  } catch (error) {
    await close();
    throw error;
  }
  return {
    port,
    url,
    start,
    kill,
    evaluate,
    close,
  };
}

async function environmentFor(
  folder: string,
  port: number,
  distributionPort: number,
  epmdPort: number,
): Promise<Record<string, string>> {
  const config = join(folder, 'rabbitmq.conf');
  await writeFile(
    config,
    [
      `listeners.tcp.local = 127.0.0.1:${port}`,
      'log.console = true',
      'log.file = false',
      // The machine is shared: what matters here is that no alarm of somebody else's making stops a test.
      'vm_memory_high_watermark.relative = 0.9',
      'disk_free_limit.absolute = 50MB',
      'raft.wal_max_size_bytes = 67108864',
      '',
    ].join('\n'),
  );
  await writeFile(join(folder, 'enabled_plugins'), '[].\n');
  return {
    PATH: process.env['PATH'] ?? '',
    // Where Erlang keeps its cookie.
    HOME: folder,
    ERL_EPMD_PORT: String(epmdPort),
    ERL_EPMD_ADDRESS: '127.0.0.1',
    RABBITMQ_NODENAME: `asya-${port}@localhost`,
    RABBITMQ_DIST_PORT: String(distributionPort),
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: '-kernel inet_dist_use_interface {127,0,0,1}',
    RABBITMQ_BASE: folder,
    RABBITMQ_CONF_ENV_FILE: '/dev/null',
    RABBITMQ_CONFIG_FILE: config,
    RABBITMQ_ADVANCED_CONFIG_FILE: join(folder, 'advanced.config'),
    RABBITMQ_ENABLED_PLUGINS_FILE: join(folder, 'enabled_plugins'),
    RABBITMQ_MNESIA_BASE: join(folder, 'mnesia'),
    RABBITMQ_LOG_BASE: join(folder, 'log'),
    RABBITMQ_SCHEMA_DIR: join(folder, 'schema'),
    RABBITMQ_GENERATED_CONFIG_DIR: join(folder, 'generated'),
    RABBITMQ_PID_FILE: join(folder, 'server.pid'),
  };
}

async function takesConnections(url: string): Promise<boolean> {
  try {
    const connection = await connect(url, { timeout: 5_000 });
    // Told once more as its end, which a node that goes down again brings.
    connection.on('error', () => {});
    await connection.close();
    return true;
  } catch {
    return false;
  }
}

async function untilFree(port: number): Promise<void> {
  const endsAt = Date.now() + PATIENCE_MS;
  for (;;) {
    if (await isFree(port)) return;
    if (Date.now() > endsAt) throw new Error(`port ${port} is still taken after ${PATIENCE_MS} ms`);
    await pause(100);
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
