/**
 * Adds up the line coverage of the test workers (coverage/coverage-final.json) and of the command line that tests
 * start as processes (raw V8 coverage in coverage/processes). Which lines there are is what the workers' report says;
 * a line counts when either ran it. Prints the files with most lines left, writes coverage/lines.json, and ends with
 * exit code 1 below the threshold.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { mergeScriptCovs } from '@bcoe/v8-coverage';
import { convert } from 'ast-v8-to-istanbul';
import { parseAstAsync } from 'vitest/node';

const threshold = 90;

/** What ran in the bundles of the command line, as Istanbul's coverage by path of the source. */
async function coverageOfProcesses(folder) {
  // Every test file bundles for itself, the same bytes in another folder, and most of these are gone by now.
  const bundles = readdirSync('.cache').filter((name) => name.startsWith('cli-'));
  const placeOf = (name) =>
    bundles.map((bundle) => resolve('.cache', bundle, name)).find((file) => existsSync(`${file}.map`));
  const scripts = new Map();
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    for (const script of readProcess(join(folder, name))) {
      const found = /\/\.cache\/cli-[^/]+\/([^/]+\.js)$/.exec(script.url);
      if (found === null) continue;
      const place = placeOf(found[1]);
      if (place === undefined) continue;
      const alike = scripts.get(place);
      // Added up as they come: hundreds of processes would not fit into memory.
      const url = pathToFileURL(place).href;
      scripts.set(
        place,
        alike === undefined ? { ...script, url } : mergeScriptCovs([alike, { ...script, url }]),
      );
    }
  }
  const byPath = {};
  for (const [file, script] of scripts) {
    const code = readFileSync(file, 'utf8');
    // The first function of a script is the script as a whole.
    if (script.functions[0].ranges[0].endOffset !== code.length)
      throw new Error(`${file} is not the bundle that ran.`);
    const sourceMap = JSON.parse(readFileSync(`${file}.map`, 'utf8'));
    sourceMap.sources = sourceMap.sources.map((source) => join(dirname(file), source));
    const converted = await convert({
      code,
      sourceMap,
      coverage: script,
      ast: parseAstAsync(code),
      wrapperLength: 0,
    });
    for (const [path, coverage] of Object.entries(converted)) {
      if (byPath[path] !== undefined) throw new Error(`${path} is in two files of the bundle.`);
      byPath[path] = coverage;
    }
  }
  return byPath;
}

/** A process that was killed while it wrote leaves a torn file, which counts nothing. */
function readProcess(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).result;
  } catch {
    return [];
  }
}

/** Line number -> how often it ran, from the first lines of the statements. */
function runsByLine(file) {
  const runs = new Map();
  for (const [id, { start }] of Object.entries(file?.statementMap ?? {})) {
    runs.set(start.line, Math.max(runs.get(start.line) ?? 0, file.s[id]));
  }
  return runs;
}

const workers = JSON.parse(readFileSync('coverage/coverage-final.json', 'utf8'));
const processes = await coverageOfProcesses('coverage/processes');
const files = Object.entries(workers).map(([path, file]) => {
  const inProcesses = runsByLine(processes[path]);
  const lines = [...runsByLine(file)];
  return {
    file: relative('.', path),
    lines: lines.length,
    byWorkers: lines.filter(([, runs]) => runs > 0).length,
    left: lines.filter(([line, runs]) => runs === 0 && !inProcesses.get(line)).map(([line]) => line),
  };
});
const sum = (pick) => files.reduce((total, file) => total + pick(file), 0);
const lines = sum((file) => file.lines);
const covered = lines - sum(({ left }) => left.length);
const percent = (part) => `${((100 * part) / lines).toFixed(1)} %`;
files.sort((a, b) => b.left.length - a.left.length);
writeFileSync('coverage/lines.json', `${JSON.stringify({ lines, covered, files }, null, 2)}\n`);
for (const file of files.slice(0, 25)) console.log(`${file.left.length} of ${file.lines} left: ${file.file}`);
console.log(
  `Lines of src/: ${percent(covered)} (${covered} of ${lines}); by the test workers alone ${percent(sum(({ byWorkers }) => byWorkers))}. Threshold ${threshold} %.`,
);
if (covered / lines < threshold / 100) process.exitCode = 1;
