// A small `duckdb` shell over @duckdb/node-api, for sandboxes in which the real one cannot be had.
// Options, modes and dot commands follow the original where they are offered; results are streamed.
import { once } from 'node:events';
import { createReadStream, createWriteStream, existsSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { runDotCommand } from './duckdb-shell/commands.mjs';
import { engineVersion, openEngine, runStatement } from './duckdb-shell/engine.mjs';
import { resultWriter, wantsJson } from './duckdb-shell/formats.mjs';
import { HELP, readOptions, UsageError } from './duckdb-shell/options.mjs';
import { statementReader, statementsOf } from './duckdb-shell/statements.mjs';

/** Share of the sandbox's memory that the engine may take before it spills to disk. */
const MEMORY_SHARE = 0.6;
const MAX_NESTED_READS = 20;

/** Thrown by `.quit` and `.exit`. */
class Leave extends Error {}

function sandboxMemoryBytes() {
  const limits = new URL('../sandbox-limits.json', import.meta.url);
  if (!existsSync(limits)) return undefined;
  const { memoryBytes } = JSON.parse(readFileSync(limits, 'utf8'));
  return typeof memoryBytes === 'number' ? memoryBytes * MEMORY_SHARE : undefined;
}

class Shell {
  constructor(options) {
    this.options = options;
    this.file = options.file;
    this.settings = {
      mode: 'duckbox',
      isEchoing: options.isEchoing,
      isBailing: options.isBailing,
      ...options.settings,
    };
    this.errors = 0;
    this.exitCode = undefined;
    this.output = process.stdout;
    this.isOnce = false;
    this.depth = 0;
  }

  async open(file) {
    this.engine?.close();
    this.engine = undefined;
    this.file = file;
    this.engine = await openEngine({
      file,
      isReadOnly: this.options.isReadOnly,
      memoryLimitBytes: sandboxMemoryBytes(),
    });
  }

  async print(text) {
    if (text !== '' && !this.output.write(text)) await once(this.output, 'drain');
  }

  leave(code) {
    this.exitCode = code;
    throw new Leave();
  }

  async sendOutput(file, isOnce) {
    await this.closeOutput();
    if (file === undefined || file === 'stdout') return;
    const stream = createWriteStream(file);
    await once(stream, 'open');
    this.output = stream;
    this.isOnce = isOnce;
  }

  async closeOutput() {
    if (this.output !== process.stdout) {
      this.output.end();
      await once(this.output, 'close');
    }
    this.output = process.stdout;
    this.isOnce = false;
  }

  /** Rows of a query of the shell's own. */
  async query(sql) {
    const rows = [];
    await runStatement(this.engine.connection, sql, false, async ({ chunks }) => {
      for await (const chunk of chunks) rows.push(...chunk);
    });
    return rows;
  }

  async runSql(sql) {
    if (this.settings.isEchoing) await this.print(`${sql.trim()}\n`);
    const began = performance.now();
    const { mode } = this.settings;
    await runStatement(
      this.engine.connection,
      sql,
      wantsJson(mode),
      async ({ columns, isExplain, chunks }) => {
        if (isExplain && mode === 'duckbox') {
          for await (const rows of chunks)
            await this.print(rows.map((row) => `${row[row.length - 1]}\n`).join(''));
          return;
        }
        const writer = resultWriter(this.settings, columns, (text) => this.print(text));
        await writer.begin();
        for await (const rows of chunks) await writer.rows(rows);
        await writer.end();
      },
    );
    if (this.settings.hasTimer)
      await this.print(`Run Time (s): real ${((performance.now() - began) / 1000).toFixed(3)}\n`);
    if (this.isOnce) await this.closeOutput();
  }

  /** Runs one item; false when running should stop because of an error. */
  async runItem(item, isBailing) {
    try {
      if (item.dot !== undefined) await runDotCommand(this, item.dot.trim());
      else await this.runSql(item.sql);
      return true;
    } catch (thrown) {
      if (thrown instanceof Leave) throw thrown;
      this.errors += 1;
      process.stderr.write(`${messageOf(thrown)}\n`);
      return !isBailing;
    }
  }

  async runItems(items, isBailing) {
    for await (const item of items) if (!(await this.runItem(item, isBailing))) return false;
    return true;
  }

  async runFile(file) {
    if (!existsSync(file)) throw new UsageError(`cannot open ${JSON.stringify(file)}`);
    if (this.depth >= MAX_NESTED_READS) throw new UsageError('.read is nested too deeply');
    this.depth += 1;
    try {
      return await this.runItems(itemsOf(createReadStream(file)), this.settings.isBailing);
    } finally {
      this.depth -= 1;
    }
  }

  async runAll() {
    const { options } = this;
    await this.open(options.file);
    if (options.init !== undefined) await this.runFile(options.init);
    for (const { text } of options.before) await this.runItems(statementsOf(text), true);
    for (const command of options.commands) {
      const goesOn =
        command.file === undefined
          ? await this.runItems(statementsOf(command.text), true)
          : await this.runFile(command.file);
      if (!goesOn) return;
    }
    if (options.commands.length === 0) await this.runItems(itemsOf(process.stdin), this.settings.isBailing);
  }
}

async function* itemsOf(stream) {
  const reader = statementReader();
  for await (const line of createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY }))
    yield* reader.feed(line);
  yield* reader.finish();
}

function messageOf(thrown) {
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  return thrown instanceof UsageError
    ? `Error: ${text}`
    : text.replace(/^Failed to extract statements: /, '');
}

/** Runs the shell and sets the exit status: 0, 1 after an error, 2 for wrong use. */
export async function main(words) {
  process.stdout.on('error', (error) => {
    // `duckdb … | head` closes the pipe early.
    if (error.code === 'EPIPE') process.exit(0);
    throw error;
  });
  let shell;
  try {
    const options = readOptions(words);
    if (options.asks === 'help') process.stdout.write(`${HELP}\n`);
    if (options.asks === 'version') process.stdout.write(`${engineVersion()}\n`);
    if (options.asks !== undefined) return;
    shell = new Shell(options);
    await shell.runAll();
  } catch (thrown) {
    if (!(thrown instanceof Leave)) {
      process.stderr.write(`${messageOf(thrown)}\n`);
      process.exitCode = thrown instanceof UsageError && shell === undefined ? 2 : 1;
    }
  }
  if (shell === undefined) return;
  await shell.closeOutput();
  shell.engine?.close();
  if (shell.exitCode !== undefined) process.exitCode = shell.exitCode;
  else if (shell.errors > 0) process.exitCode = 1;
}
