/** A process of its own that builds concepts until it is killed. Arguments: lake folder, folder of concepts. */
import { buildConcepts } from '../../src/concepts/build.js';
import { writeLake } from './lake.js';

const [lake, folder] = process.argv.slice(2) as [string, string];
const dataset = await writeLake(lake, { 'mimiciv_icu.icustays': 'select range as stay_id from range(1000)' });
await buildConcepts(dataset, {
  folder,
  lanes: 1,
  threads: 1,
  progress: {
    update: (text) => process.stdout.write(`${text}\n`),
    done: (text) => process.stdout.write(`${text}\n`),
    warn: () => {},
  },
});
