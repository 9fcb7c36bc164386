import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { bundledCli } from './cli.js';

test('a reader that goes away is no error of the command', async () => {
  const line = `"${process.execPath}" "${await bundledCli()}" tasks list | true`;
  const { stderr } = await promisify(execFile)('bash', ['--norc', '-o', 'pipefail', '-c', line]);
  expect(stderr).toBe('');
}, 120_000);
