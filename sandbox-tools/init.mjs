// First program in the sandbox: starts the forwarder, runs one command as its child with the same environment and
// streams, and passes on how it ended. Node built-ins only.
//
//   node init.mjs (--status-fd N | --status-socket PATH) [--forward PORT SOCKET] [--home FOLDER] -- COMMAND [ARGUMENT...]
//
// The files of FOLDER are copied into $HOME, mode 0600.
//
// The status descriptor, or socket where none can be handed in, tells the host, in JSON lines, what the exit status alone cannot:
//   {"ready":true}                       forwarder up, command about to start
//   {"startError":"ENOENT"}              the command could not be started
//   {"exitCode":0,"signal":null}         how the command ended; "outOfMemory":true when the kernel ended it for that
// The command does not inherit that descriptor.
import { spawn } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, readdirSync, readFileSync, writeSync } from 'node:fs';
import { connect } from 'node:net';
import { constants } from 'node:os';
import { join } from 'node:path';
import { startForwarder } from './forwarder.mjs';

const READY_FAILED = 125;
const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;

function readArguments(words) {
  const parsed = {
    statusFd: 3,
    statusSocket: undefined,
    forward: undefined,
    homeFiles: undefined,
    command: [],
  };
  for (let at = 0; at < words.length; at += 1) {
    if (words[at] === '--status-fd') {
      at += 1;
      parsed.statusFd = Number(words[at]);
    } else if (words[at] === '--status-socket') {
      at += 1;
      parsed.statusSocket = words[at];
    } else if (words[at] === '--home') {
      at += 1;
      parsed.homeFiles = words[at];
    } else if (words[at] === '--forward') {
      parsed.forward = { port: Number(words[at + 1]), socketPath: words[at + 2] };
      at += 2;
    } else if (words[at] === '--') {
      parsed.command = words.slice(at + 1);
      return parsed;
    } else {
      throw new Error(`unexpected argument ${words[at]}`);
    }
  }
  return parsed;
}

/** Where records go, and how to be sure that they have gone there before this program ends. */
async function statusChannel(statusFd, statusSocket) {
  if (statusSocket === undefined) {
    const report = (record) => {
      try {
        writeSync(statusFd, `${JSON.stringify(record)}\n`);
      } catch {
        // The host has gone; it ends the sandbox.
      }
    };
    return { report, end: (code) => process.exit(code) };
  }
  // The host takes the first connection only, which is this one: the command has not been started.
  const socket = connect(statusSocket);
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  socket.on('error', () => {});
  return {
    report: (record) => socket.write(`${JSON.stringify(record)}\n`),
    end: (code) => {
      setTimeout(() => process.exit(code), 1000);
      socket.end(() => process.exit(code));
    },
  };
}

/** Copies a tree of files; nobody but the agent may read the copies. */
function copyInto(from, to) {
  mkdirSync(to, { recursive: true, mode: 0o700 });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) copyInto(source, target);
    else {
      copyFileSync(source, target);
      chmodSync(target, 0o600);
    }
  }
}

/** Whether the kernel ended a process of this sandbox for want of memory (control groups of version 2, or 1). */
function hasRunOutOfMemory() {
  for (const path of ['/sys/fs/cgroup/memory.events', '/sys/fs/cgroup/memory/memory.oom_control']) {
    try {
      if (/^oom_kill [1-9]/m.test(readFileSync(path, 'utf8'))) return true;
    } catch {
      // Another version, or none shown here.
    }
  }
  return false;
}

async function main() {
  const { statusFd, statusSocket, forward, homeFiles, command } = readArguments(process.argv.slice(2));
  const { report, end } = await statusChannel(statusFd, statusSocket);
  if (command.length === 0) throw new Error('no command');
  if (forward !== undefined) await startForwarder(forward);
  if (homeFiles !== undefined) copyInto(homeFiles, process.env.HOME);
  report({ ready: true });

  const child = spawn(command[0], command.slice(1), { stdio: [0, 1, 2] });
  // The host signals every process of the sandbox itself; init stays so that the exit status is passed on.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => {});
  child.on('error', (error) => {
    report({ startError: error.code ?? String(error) });
    process.stderr.write(`${command[0]}: ${error.code === 'ENOENT' ? 'command not found' : error.message}\n`);
    end(error.code === 'ENOENT' ? NOT_FOUND : NOT_EXECUTABLE);
  });
  child.on('exit', (exitCode, signal) => {
    report({
      exitCode,
      signal,
      ...(signal === 'SIGKILL' && hasRunOutOfMemory() ? { outOfMemory: true } : {}),
    });
    end(exitCode ?? 128 + (constants.signals[signal] ?? 0));
  });
}

main().catch((error) => {
  process.stderr.write(`init: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(READY_FAILED);
});
