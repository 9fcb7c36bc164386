// Generates a dataset, builds a reference and prints what an agent would be given: tsx prepare.ts HOME
import {
  buildReferences,
  contextPackage,
  findTask,
  homeAt,
  loadProtocol,
  parseCondition,
  synthesizeDataset,
} from 'm4bench';

const home = homeAt(process.argv[2] ?? '.m4bench');
const dataset = await synthesizeDataset(home, { kind: 'mimic-iv', stays: 20, seed: '1' });
const task = await findTask('mimic-meld-24h');
const [reference] = await buildReferences(home, dataset, { keys: [task.reference] });
console.log(`${dataset.tables.length} tables, ${reference?.manifest.rows} rows in the reference`);

const given = contextPackage({
  task,
  condition: parseCondition('with-skill'),
  protocol: await loadProtocol(),
  skillFolder: '.codex/skills',
  schema: 'native',
});
console.log(given.instruction);
for (const file of given.workFiles) console.log(file.path);
