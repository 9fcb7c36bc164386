/**
 * The matched-content control: the reference query as text in a minimal wrapper, without procedural prose. On raw
 * tasks the query names relations that the task database does not have; it is a definition to rebuild.
 *
 * The published form has no front matter, so that agent CLIs may not offer it; with front matter it is a valid skill.
 */
export function rawSqlSkill(taskName: string, referenceSql: string, hasFrontMatter: boolean): string {
  const frontMatter = hasFrontMatter
    ? `---
name: ${taskName}
description: "Reference SQL of the task: the query behind the expected result, as text."
license: MIT
compatibility: The query is written for DuckDB.
metadata:
  version: "1.0"
  tier: community
  category: clinical
  sources: reference query of this benchmark
---

`
    : '';
  return `${frontMatter}# Reference SQL (matched-content control)

The block below is the public reference SQL behind the expected result of this task, given verbatim and without procedural prose. It is here to test whether matched content alone explains the gain that a skill brings.

\`\`\`sql
${referenceSql.trimEnd()}
\`\`\`
`;
}
