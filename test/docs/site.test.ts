import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { errorSites } from '../../docs/site/error-codes.js';
import { errorNotes, generatedPages, writeGeneratedPages } from '../../docs/site/generate.js';
import { navigation } from '../../docs/site/navigation.mjs';
import { slugOf } from '../../docs/site/slug.mjs';
import { packageRoot } from '../../src/support/home.js';
import { loadTasks } from '../../src/tasks/load-tasks.js';

const root = packageRoot();
const site = join(root, 'site');

describe('pages made from the code and the content', () => {
  test('every error code of the source is on the page, with what to do', async () => {
    const page = (await generatedPages()).get('errors.md')!;
    const source = join(root, 'src');
    const texts = readdirSync(source, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !/test|fixture/.test(file))
      .map((file) => readFileSync(join(source, file), 'utf8'));
    // Found a second time, by their shape: the first argument of an M4BenchError on this line or the next.
    const codes = texts.flatMap((text) =>
      [...text.matchAll(/new M4BenchError\(\s*'([A-Z0-9_]+)'/g)].map(([, code]) => code!),
    );
    expect(new Set(codes).size).toBeGreaterThan(120);
    const headings = new Set([...page.matchAll(/^## ([A-Z0-9_]+)$/gm)].map(([, code]) => code));
    expect([...new Set(codes)].filter((code) => !headings.has(code))).toEqual([]);
  });

  test('an error that is worded elsewhere is found too, and a note belongs to a code that exists', () => {
    const sites = errorSites(join(root, 'src'));
    const codes = new Set(sites.map(({ code }) => code));
    for (const code of ['PROTOCOL_INVALID', 'IMPORT_ROW_RAGGED', 'IMPORT_GZIP_BROKEN', 'SKILL_INVALID'])
      expect(codes).toContain(code);
    expect(Object.keys(errorNotes()).filter((code) => !codes.has(code))).toEqual([]);
    expect(sites.find(({ code }) => code === 'TASK_UNKNOWN')).toEqual({
      code: 'TASK_UNKNOWN',
      module: 'tasks',
      message: 'There is no task "…".',
      remedy: '…Run `m4bench tasks list` for all … names; tasks of your own need --tasks DIR.',
    });
  });

  test('every task stands with its family, and every command with its options', async () => {
    const pages = await generatedPages();
    for (const { name } of await loadTasks()) expect(pages.get('families.md')).toContain(`| \`${name}\` |`);
    const commands = pages.get('commands.md')!;
    for (const name of [
      'm4bench data import',
      'm4bench tasks new',
      'm4bench campaign run',
      'm4bench evaluate',
    ])
      expect(commands).toMatch(new RegExp(`^##+ ${name}$`, 'm'));
    expect(commands).toContain('`--tolerance <column=n>`');
  });
});

describe('the site', () => {
  const html = new Map<string, string>();
  beforeAll(async () => {
    await writeGeneratedPages();
    const eleventy = join(root, 'node_modules', '@11ty', 'eleventy', 'cmd.cjs');
    await promisify(execFile)(process.execPath, [eleventy, '--config=docs/site/eleventy.config.mjs'], {
      cwd: root,
    });
    for (const name of readdirSync(site, { recursive: true, encoding: 'utf8' }))
      if (name.endsWith('.html') && !name.startsWith('generated/api/'))
        html.set(name, readFileSync(join(site, name), 'utf8'));
  }, 300_000);

  test('has every page of docs/, with a title of its own', () => {
    const names = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'));
    for (const name of names) expect(html.has(name.replace(/md$/, 'html')), name).toBe(true);
    const listed = new Set(navigation.flatMap(([, pages]) => pages.map(([path]) => `${path}.md`)));
    expect(names.filter((name) => !listed.has(name))).toEqual([]);
    const titles = [...html.values()].map((page) => /<title>(.*?)<\/title>/.exec(page)?.[1]);
    expect(new Set(titles).size).toBe(html.size);
  });

  test('asks for nothing but its own files: no script, style, image or font from elsewhere', () => {
    const external: string[] = [];
    for (const [name, page] of html)
      for (const [, address] of page.matchAll(
        /<(?:script|link|img|iframe|source)\b[^>]*?(?:src|href)="([^"]+)"/g,
      ))
        if (/^(https?:)?\/\//.test(address!)) external.push(`${name}: ${address}`);
    expect(external).toEqual([]);
    expect([...html.values()].filter((page) => page.includes('<script'))).toEqual([]);
    expect(readFileSync(join(site, 'style.css'), 'utf8')).not.toMatch(/url\(|@import/);
  });

  test('has no broken link inside', () => {
    const broken: string[] = [];
    // The API reference is written by another tool; a listed page may not be written yet.
    const listed = navigation.flatMap(([, pages]) => pages.map(([path]) => `${path}.html`));
    const isElsewhere = (path: string): boolean => path.startsWith('generated/api/') || listed.includes(path);
    for (const [name, page] of html)
      for (const [, address] of page.matchAll(/<a href="([^"]+)"/g)) {
        if (/^[a-z]+:/.test(address!)) continue;
        const [path, anchor] = address!.split('#') as [string, string?];
        const target = path === '' ? name : normalize(join(dirname(name), path));
        if (isElsewhere(target) && !html.has(target)) continue;
        const isThere = html.has(target) || existsSync(join(site, target));
        const hasAnchor =
          anchor === undefined || !html.has(target) || html.get(target)!.includes(`id="${anchor}"`);
        if (!isThere || !hasAnchor) broken.push(`${name}: ${address}`);
      }
    expect(broken).toEqual([]);
  });

  test('anchors are those of GitHub', () => {
    expect(slugOf('The 28 tasks')).toBe('the-28-tasks');
    expect(slugOf('What is `removed`, and why?')).toBe('what-is-removed-and-why');
  });
});
