import { totalmem } from 'node:os';
import { expect, test } from 'vitest';
import { DuckSession } from './session.js';

const keptMemory = async (session: DuckSession): Promise<unknown> =>
  (await session.row(`select current_setting('block_allocator_memory') as kept`)).kept;

test('a session keeps half of its memory when asked to, and else none', async () => {
  const memoryBytes = 512 * 1024 ** 2;
  await using session = await DuckSession.open({ threads: 1, memoryBytes, keepsMemory: true });
  expect(await keptMemory(session)).toBe('256.0 MiB');
  await using plain = await DuckSession.open({ threads: 1, memoryBytes });
  expect(await keptMemory(plain)).toBe('0 bytes');
});

test('a limit far beyond the machine opens all the same, and keeps none', async () => {
  const memoryBytes = 4 * totalmem();
  await using session = await DuckSession.open({ threads: 1, memoryBytes, keepsMemory: true });
  expect(await keptMemory(session)).toBe('0 bytes');
  expect(await session.row('select 1 + 1 as two')).toEqual({ two: 2 });
});
