import { stringify } from 'smol-toml';
import { identifier, literal } from '../duck/sql.js';
import type { AllowedRelation } from '../schemas/task-database.js';
import type { Task } from '../tasks/task.js';

/** Version of Harbor's task format that is written (`schema_version` of `task.toml`). */
export const harborSchemaVersion = '1.1';

const DATA = '/opt/m4bench/data';
const WORK = '/work';

export interface HarborTask {
  readonly task: Task;
  readonly condition: string;
  readonly dataset: string;
  readonly instruction: string;
  /** Texts of skills by name. */
  readonly skills: readonly { readonly name: string; readonly text: string }[];
  readonly relations: readonly AllowedRelation[];
  readonly emptySchemas: readonly string[];
  readonly timeoutSeconds: number;
  readonly benchmarkVersion: string;
  /** Whether data, reference and solution may be in the folder. */
  readonly hasData: boolean;
}

/** The texts of a task's folder, by path; data files are copied beside them. */
export function harborTexts(task: HarborTask): Readonly<Record<string, string>> {
  return {
    'task.toml': taskToml(task),
    'instruction.md': task.instruction,
    'environment/Dockerfile': dockerfile(task),
    'environment/views.sql': viewsSql(task),
    'environment/build-database.py': buildDatabase,
    'tests/test.sh': testScript(task),
    ...Object.fromEntries(task.skills.map(({ name, text }) => [`environment/skills/${name}/SKILL.md`, text])),
    ...(task.hasData ? { 'solution/solve.sh': solveScript } : {}),
  };
}

/** Where a relation lies below `environment/data`, and inside. */
export function dataFileOf({ schema, table }: AllowedRelation): string {
  return `${schema}/${table}.parquet`;
}

function taskToml({
  task,
  condition,
  dataset,
  skills,
  timeoutSeconds,
  benchmarkVersion,
}: HarborTask): string {
  const document = {
    schema_version: harborSchemaVersion,
    task: {
      name: `m4bench/${task.name}`,
      description: task.title,
      authors: [{ name: 'm4bench contributors' }],
      keywords: ['clinical', task.database, task.family, task.mode],
    },
    metadata: {
      difficulty: task.difficulty,
      category: task.kind,
      tags: [...task.tags],
      m4bench_version: benchmarkVersion,
      condition,
      dataset,
      key_columns: [...task.contract.keyColumns],
      scored_columns: [...task.contract.scoredColumns],
    },
    verifier: { timeout_sec: 900 },
    agent: { timeout_sec: timeoutSeconds },
    environment: {
      build_timeout_sec: 1800,
      cpus: 2,
      memory_mb: 8192,
      storage_mb: 20480,
      ...(skills.length === 0 ? {} : { skills_dir: '/opt/m4bench/skills' }),
    },
  };
  return `${stringify(document)}\n`;
}

function dockerfile({ skills, hasData }: HarborTask): string {
  return [
    '# The database is made of views over exactly the files that the task allows.',
    'FROM node:20-bookworm-slim',
    'RUN apt-get update \\',
    ' && apt-get install -y --no-install-recommends python3 python3-pip ca-certificates \\',
    ' && rm -rf /var/lib/apt/lists/* \\',
    ' && pip install --break-system-packages --no-cache-dir duckdb pandas',
    ...(hasData ? [] : ['# Put the files that views.sql names into data/ before building.']),
    `COPY data/ ${DATA}/`,
    ...(skills.length === 0 ? [] : ['COPY skills/ /opt/m4bench/skills/']),
    'COPY views.sql build-database.py /tmp/',
    `WORKDIR ${WORK}`,
    `RUN python3 /tmp/build-database.py /tmp/views.sql ${WORK}/database.duckdb && rm /tmp/views.sql /tmp/build-database.py`,
    '',
  ].join('\n');
}

function viewsSql({ relations, emptySchemas }: HarborTask): string {
  const schemas = [...new Set([...emptySchemas, ...relations.map(({ schema }) => schema)])].sort();
  const views = relations.map((relation) => {
    const name = `${identifier(relation.schema)}.${identifier(relation.table)}`;
    return `create view ${name} as from read_parquet(${literal(`${DATA}/${dataFileOf(relation)}`)});`;
  });
  return [
    ...schemas.map((schema) => `create schema if not exists ${identifier(schema)};`),
    ...views.sort(),
    '',
  ].join('\n');
}

const buildDatabase = `import sys
import duckdb

with open(sys.argv[1]) as script, duckdb.connect(sys.argv[2]) as connection:
    connection.execute(script.read())
`;

function testScript({ task, benchmarkVersion }: HarborTask): string {
  return `#!/bin/bash
# Scores ${WORK}/output.csv against the reference with m4bench's own evaluator. A tarball of the package beside this
# script (npm pack) is used where there is one; else it is installed from the registry.
set -u
mkdir -p /logs/verifier
tests="$(cd "$(dirname "$0")" && pwd)"
package="$(ls "$tests"/m4bench-*.tgz 2>/dev/null | head -n 1)"
npm install --silent --no-audit --no-fund --prefix /tmp/m4bench "\${package:-m4bench@${benchmarkVersion}}" >&2 || exit 1
/tmp/m4bench/node_modules/.bin/m4bench evaluate ${task.name} ${WORK}/output.csv \\
  --reference "$tests/reference.parquet" --scores-only --json > /logs/verifier/evaluation.json || exit 1
node -e '
  const { readFileSync, writeFileSync } = require("node:fs");
  const { reward, rewardRobust, keyF1, strictPass } = JSON.parse(readFileSync("/logs/verifier/evaluation.json"));
  writeFileSync("/logs/verifier/reward.json", JSON.stringify({ reward, reward_robust: rewardRobust, key_f1: keyF1, strict_pass: Number(strictPass) }));
  writeFileSync("/logs/verifier/reward.txt", String(reward));
'
`;
}

const solveScript = `#!/bin/bash
# The right answer, to prove that the task can be solved.
cp "$(cd "$(dirname "$0")" && pwd)/answer.csv" ${WORK}/output.csv
`;
