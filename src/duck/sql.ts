/** Quotes an identifier for DuckDB. */
export function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Quotes a text literal for DuckDB. NUL cannot occur in a DuckDB literal and is refused. */
export function literal(text: string): string {
  if (text.includes('\0')) throw new RangeError('SQL text literals cannot hold NUL.');
  return `'${text.replaceAll("'", "''")}'`;
}

/** A schema-qualified relation, each part quoted. */
export function relation(schema: string, table: string): string {
  return `${identifier(schema)}.${identifier(table)}`;
}
