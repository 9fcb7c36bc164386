// Scores an output file: tsx score-a-file.ts HOME TASK FILE
import { chooseDataset, evaluateOutput, findTask, homeAt, openReference } from 'm4bench';

const [homeFolder = '.m4bench', taskName = 'mimic-meld-24h', outputPath = 'output.csv'] =
  process.argv.slice(2);
const home = homeAt(homeFolder);
const task = await findTask(taskName);
const dataset = await chooseDataset(home, task.database);
const reference = await openReference(home, dataset.name, task.reference);
const { evaluation } = await evaluateOutput({
  task,
  dataset: dataset.name,
  outputPath,
  referencePath: reference.parquetPath,
});
console.log(`reward ${evaluation.reward}, strict pass ${evaluation.strictPass}`);
for (const [column, rate] of Object.entries(evaluation.matchRates)) console.log(`${column}: ${rate}`);
