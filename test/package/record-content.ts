import { benchmarkVersion } from '../../src/version.js';
import { recordContent } from './content.js';

const changed = await recordContent(benchmarkVersion);
console.log(`benchmark/versions.json ${benchmarkVersion}: ${changed.join(', ') || 'nothing changed'}`);
