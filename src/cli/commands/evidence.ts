import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { Command, Option } from 'commander';
import { type ImportedCampaign, importPackage } from '../../evidence/import-package.js';
import { importPublished } from '../../evidence/import-published.js';
import { type Packed, packCampaign } from '../../evidence/pack.js';
import { loadRuleset, type PackageMode, packageModes } from '../../evidence/ruleset.js';
import { saltFrom, termsFrom } from '../../evidence/secret-file.js';
import { signJournal } from '../../evidence/sign-journal.js';
import { makeKeyPair, readPrivateKey, readPublicKey } from '../../evidence/signing.js';
import { type Verification, verifyPackage } from '../../evidence/verify.js';
import { M4BenchError, reasonOf } from '../../support/errors.js';
import { encodeSegment } from '../../support/ids.js';
import { cleanForTerminal } from '../../support/terminal.js';
import { type CliContext, contextOf } from '../context.js';

/** `m4bench evidence …`: what is published of a campaign, and how others check it. */
export function evidenceCommand(): Command {
  return new Command('evidence')
    .description('publish runs without patients, and check what others published')
    .addCommand(packCommand())
    .addCommand(verifyCommand())
    .addCommand(importCommand())
    .addCommand(signCommand())
    .addCommand(keyCommand());
}

interface PackCommandOptions {
  readonly mode: PackageMode;
  readonly out?: string;
  readonly terms?: string;
  readonly identifiers?: string;
  readonly salt?: string;
  readonly key?: string;
}

function packCommand(): Command {
  return new Command('pack')
    .description('make a sanitised, hashed archive of a campaign; the same campaign gives the same bytes')
    .argument('<campaign>', 'name of the campaign; single runs are in adhoc')
    .addOption(
      new Option('--mode <mode>', 'private keeps rows and tool outputs under pseudonyms; never publish it')
        .choices(packageModes)
        .default('public'),
    )
    .option('--out <file>', 'default <campaign>-<mode>.tar.zst in this folder')
    .option('--terms <file>', 'words to take out, one a line')
    .option('--identifiers <file>', 'identifier columns of own kinds of databases (TOML)')
    .option('--salt <file>', 'secret of the pseudonyms of a private package; made when it is not there')
    .option('--key <file>', 'sign the package with this Ed25519 key')
    .addHelpText('after', '\nExample:\n  m4bench evidence pack tonight --terms ./names.txt')
    .action(async (campaign: string, options: PackCommandOptions, command: Command) => {
      const context = contextOf(command);
      const out = resolve(options.out ?? `${encodeSegment(campaign)}-${options.mode}.tar.zst`);
      const packed = await packCampaign({
        home: context.home,
        campaign,
        mode: options.mode,
        out,
        terms: options.terms === undefined ? [] : await termsFrom(options.terms),
        ...(options.identifiers === undefined ? {} : { identifiersFile: options.identifiers }),
        ...(options.salt === undefined ? {} : { salt: await saltFrom(options.salt) }),
        ...(options.key === undefined ? {} : { key: await readPrivateKey(options.key) }),
        progress: context.progress,
        signal: context.signal,
      });
      tellPacked(context, packed);
    });
}

function tellPacked(context: CliContext, { archive, manifest, report, sidecars }: Packed): void {
  const { planned, packaged, missing, unplanned } = manifest.runs;
  context.say(
    `${archive.path}: ${packaged}${planned === null ? '' : ` of ${planned} planned`} runs, ${manifest.entries.length} files, ${(archive.bytes / 1024).toFixed(0)} kB`,
  );
  for (const { id, hits, why } of report.rules)
    if (hits > 0) context.say(`  ${String(hits).padStart(6)}  ${id}: ${why}`);
  if (missing.length > 0) context.say(`${missing.length} planned runs have no result; the package says so.`);
  if (unplanned.length > 0) context.say(`${unplanned.length} runs are in no plan; the package says so.`);
  context.say(`SHA-256 ${archive.sha256}`);
  context.say(`next: m4bench evidence verify ${archive.path}`);
  context.json({ archive, sidecars, runs: manifest.runs, mode: manifest.mode, rules: report.rules });
}

function verifyCommand(): Command {
  return new Command('verify')
    .description('check a package: every byte, every score, completeness, and what must not be in it')
    .argument('<file>', 'the archive (.tar.zst)')
    .option('--public-key <file>', 'the journal must be signed with this key')
    .option('--originals <dir>', 'folder of the campaign: compare the originals with their hashes')
    .option('--identifiers <file>', 'identifier columns of own kinds of databases (TOML)')
    .action(
      async (
        file: string,
        options: { publicKey?: string; originals?: string; identifiers?: string },
        command: Command,
      ) => {
        const context = contextOf(command);
        const verification = await verifyPackage({
          archive: resolve(file),
          ruleset: await loadRuleset(
            options.identifiers === undefined ? {} : { identifiersFile: options.identifiers },
          ),
          ...(existsSync(context.home.datasets) ? { home: context.home } : {}),
          ...(options.publicKey === undefined ? {} : { publicKey: await readPublicKey(options.publicKey) }),
          ...(options.originals === undefined ? {} : { originals: resolve(options.originals) }),
        });
        tellVerification(context, file, verification);
        if (!verification.isGood) process.exitCode = 1;
      },
    );
}

const SHOWN_PROBLEMS = 50;

function tellVerification(context: CliContext, file: string, verification: Verification): void {
  const { problems, notes, isGood, manifest, archiveSha256, tarSha256, scores } = verification;
  for (const { code, file: where, detail } of problems.slice(0, SHOWN_PROBLEMS))
    context.say(cleanForTerminal(`${code} ${where}: ${detail}`));
  if (problems.length > SHOWN_PROBLEMS) context.say(`and ${problems.length - SHOWN_PROBLEMS} more`);
  for (const note of notes) context.say(cleanForTerminal(note));
  context.say(
    cleanForTerminal(
      isGood
        ? `${file}: good (${manifest?.mode}, campaign ${manifest?.campaign})`
        : `${file}: NOT good, ${problems.length} problems`,
    ),
  );
  context.json({
    good: isGood,
    problems,
    notes,
    archiveSha256,
    tarSha256: tarSha256 ?? null,
    scores,
    mode: manifest?.mode ?? null,
    campaign: manifest?.campaign ?? null,
    runs: manifest?.runs ?? null,
  });
}

function signCommand(): Command {
  return new Command('sign')
    .description('sign the journal of a campaign, so that no run can be left out unnoticed')
    .argument('<campaign>', 'name of the campaign')
    .requiredOption('--key <file>', 'Ed25519 private key (PEM)')
    .action(async (campaign: string, options: { key: string }, command: Command) => {
      const context = contextOf(command);
      const { path, signature } = await signJournal(
        context.home,
        campaign,
        await readPrivateKey(options.key),
      );
      context.say(`${path}: ${signature.statement.count} lines, head ${signature.statement.sha256}`);
      context.json({ path, signature });
    });
}

function keyCommand(): Command {
  return new Command('key')
    .description('make an Ed25519 key pair for signing')
    .argument('<file>', 'for the private key; the public one gets .pub at its end')
    .action(async (file: string, _options: unknown, command: Command) => {
      const context = contextOf(command);
      const path = resolve(file);
      const { publicKeyPath } = await makeKeyPair(path);
      context.say(`private key ${path} (keep it), public key ${publicKeyPath} (publish it)`);
      context.json({ privateKey: path, publicKey: publicKeyPath });
    });
}

function importCommand(): Command {
  return new Command('import')
    .description(
      'make a read-only campaign of a package, or of runs in the layout of the published benchmark',
    )
    .argument('<source>', 'a package (.tar.zst), or an archive or folder of published runs')
    .option('--name <name>', 'name of the campaign (default: that of the package, or of the file or folder)')
    .option('--published', 'the source is of the published benchmark, and no package of m4bench')
    .addHelpText(
      'after',
      '\nExample:\n  m4bench evidence import tonight-public.tar.zst && m4bench analyze tonight',
    )
    .action(async (source: string, options: { name?: string; published?: boolean }, command: Command) => {
      const context = contextOf(command);
      const path = resolve(source);
      const imported = await importSource(context, path, options);
      for (const { name, runs, notes, folder } of imported) {
        for (const note of notes) context.say(cleanForTerminal(note));
        context.say(cleanForTerminal(`campaign ${name}: ${runs} runs, read-only, at ${folder}`));
      }
      context.say(`next: m4bench analyze ${imported.map(({ name }) => name).join(' ')}`);
      context.json({ campaigns: imported });
    });
}

async function importSource(
  { home }: CliContext,
  path: string,
  { name, published }: { readonly name?: string; readonly published?: boolean },
): Promise<readonly ImportedCampaign[]> {
  const isFolder = await isDirectory(path);
  if (isFolder || published)
    return importPublished(home, path, name ?? basename(path).replace(/\.tar.*$/, ''));
  return [await importPackage(home, path, await loadRuleset(), name)];
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (thrown) {
    throw new M4BenchError(
      'EVIDENCE_UNREADABLE',
      `Cannot read ${path}: ${reasonOf(thrown)}.`,
      'Name a package, or an archive or folder of published runs.',
      { cause: thrown },
    );
  }
}
