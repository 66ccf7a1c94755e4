import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, closeSync, constants, globSync, openSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { connect } from 'amqplib';
import { freePort, isFree } from '../sidecar/free-port.ts';

/** A RabbitMQ node for one test file, with its own ports and directories, on 127.0.0.1. */
export interface RabbitMqBroker {
  readonly port: number;
  readonly url: string;
  /** Kills the node with SIGKILL. Its data stays. */
  kill(): Promise<void>;
  /** Starts the node again on the same port with its data. Resolves when it accepts connections. */
  start(): Promise<void>;
  /** Evaluates an Erlang expression on the node, for information that AMQP does not offer. */
  evaluate(expression: string): Promise<unknown>;
  /** Kills the node and removes its files. */
  close(): Promise<void>;
}

const PROGRAMS = '/usr/lib/rabbitmq/bin';
/** Part of Erlang, and answers in milliseconds. `rabbitmqctl` would start a whole node for each call. */
const CALL_PROGRAM = '/usr/lib/erlang/lib/erl_interface-*/bin/erl_call';
/**
 * Starts the node and the port mapper, which would otherwise keep running as a daemon. When one of them ends, all end.
 * They also end with the test process, because that closes its end of the pipe.
 */
const START_SCRIPT = [
  'epmd -port "$ERL_EPMD_PORT" -address 127.0.0.1 &',
  '("$0"; kill -KILL 0) &',
  'cat >/dev/null',
  'kill -KILL 0',
].join('\n');
/** Long enough to start an Erlang node on a busy machine. */
const TIMEOUT_MS = 120_000;

/** Why RabbitMQ is not available on this machine; undefined if it is. */
export function rabbitMqAbsence(): string | undefined {
  try {
    accessSync(join(PROGRAMS, 'rabbitmq-server'), constants.X_OK);
    return undefined;
  } catch {
    return `${PROGRAMS}/rabbitmq-server does not exist; test/support/install-rabbitmq.sh installs it on Debian`;
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
    group = spawn('/bin/sh', ['-c', START_SCRIPT, join(PROGRAMS, 'rabbitmq-server')], {
      env,
      cwd: folder,
      detached: true,
      stdio: ['pipe', output, output],
    });
    closeSync(output);
    const endsAt = Date.now() + TIMEOUT_MS;
    while (!(await acceptsConnections(url))) {
      if (!hasEnded() && Date.now() < endsAt) {
        await pause(200);
        continue;
      }
      const state = hasEnded() ? 'ended' : `was not ready within ${TIMEOUT_MS} ms`;
      throw new Error(`RabbitMQ ${state}: ${readFileSync(log, 'utf8').slice(-2_000)}`);
    }
  }

  async function kill(): Promise<void> {
    if (group?.pid !== undefined && !hasEnded()) {
      const gone = once(group, 'exit');
      process.kill(-group.pid, 'SIGKILL');
      await gone;
    }
    // The shell may end a moment before the node and the port mapper, which use the ports.
    await Promise.all(ports.map(untilFree));
  }

  let lastAnswer: Promise<unknown> = Promise.resolve();

  /** One call at a time: all calls use the same node name, and the node rejects a second one with that name. */
  function evaluate(expression: string): Promise<unknown> {
    const answer = lastAnswer.then(() => callNode(expression));
    lastAnswer = answer.catch(() => {});
    return answer;
  }

  async function callNode(expression: string): Promise<unknown> {
    const [program = 'erl_call'] = globSync(CALL_PROGRAM);
    const args = ['-sname', env['RABBITMQ_NODENAME'] ?? '', '-timeout', String(TIMEOUT_MS / 1000), '-e'];
    const calling = promisify(execFile)(program, args, { env, cwd: folder });
    calling.child.stdin?.end(
      `Is = begin ${expression} end, base64:encode_to_string(rabbit_json:encode(Is)).\n`,
    );
    const { stdout } = await calling;
    // In base64, because erl_call does not escape quotes in its output.
    const [, text] = /^\{ok, "(.*)"\}$/.exec(stdout.trim()) ?? [];
    if (text === undefined) throw new Error(`${expression} returned ${stdout}`);
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
      // On a shared machine, resource alarms caused by other processes must not block a test.
      'vm_memory_high_watermark.relative = 0.9',
      'disk_free_limit.absolute = 50MB',
      'raft.wal_max_size_bytes = 67108864',
      '',
    ].join('\n'),
  );
  await writeFile(join(folder, 'enabled_plugins'), '[].\n');
  return {
    PATH: process.env['PATH'] ?? '',
    // Erlang stores its cookie here.
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

async function acceptsConnections(url: string): Promise<boolean> {
  try {
    const connection = await connect(url, { timeout: 5_000 });
    // amqplib reports an error again if the node goes down while the connection closes.
    connection.on('error', () => {});
    await connection.close();
    return true;
  } catch {
    return false;
  }
}

async function untilFree(port: number): Promise<void> {
  const endsAt = Date.now() + TIMEOUT_MS;
  for (;;) {
    if (await isFree(port)) return;
    if (Date.now() > endsAt) throw new Error(`port ${port} is still in use after ${TIMEOUT_MS} ms`);
    await pause(100);
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
