import type { Scenario } from './scenario.js';

/** Ends the SQL in the shell command; no query holds this line. */
const END = 'END_OF_THE_QUERY';

/**
 * The scenario of a diligent agent: reads the instruction, looks at the skills, lists the tables, runs a query that
 * writes `./output.csv`, and ends.
 */
export function solvingScenario(options: {
  /** Relative to the work folder, as the agent's adapter says. */
  readonly skillFolder: string;
  /** A script that writes `./output.csv` itself. */
  readonly sql: string;
}): Scenario {
  if (options.sql.split('\n').includes(END)) throw new Error(`The query holds the line ${END}.`);
  return [
    { shell: 'cat instruction.md', message: 'I read the instruction.' },
    { shell: `ls -R ${options.skillFolder} && cat ${options.skillFolder}/*/SKILL.md` },
    { shell: 'duckdb ./database.duckdb -c "show all tables"' },
    {
      shell: `cat > solve.sql <<'${END}'\n${options.sql}\n${END}\nduckdb ./database.duckdb -c ".read ./solve.sql"`,
    },
    { message: 'output.csv is written.' },
  ];
}
