import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from './support/home.js';

/** Version of the package and of its benchmark content; results of different versions never mix. */
export const benchmarkVersion: string = (
  JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as { version: string }
).version;
