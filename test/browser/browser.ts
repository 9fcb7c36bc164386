import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { build } from 'vite';
import { packageRoot } from '../../src/support/home.js';

/** Debian's Chromium; browser tests are skipped where it is not installed. */
export const chromiumPath = '/usr/bin/chromium';
export const hasChromium = existsSync(chromiumPath);
if (!hasChromium)
  console.warn(`Browser tests are skipped: there is no ${chromiumPath} (apt-get install chromium).`);

export function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: chromiumPath,
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}

/** Builds the pages' style and script from their sources into a folder. */
export async function buildAssets(folder: string): Promise<string> {
  await build({
    configFile: join(packageRoot(), 'src', 'viewer', 'client', 'vite.config.ts'),
    build: { outDir: folder, emptyOutDir: true },
  });
  return folder;
}

/** A page that notes what must not happen: requests to elsewhere, errors, refusals by its own policy. */
export interface WatchedPage {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly complaints: string[];
}

/** Opens a page that may ask `origin` (a URL's beginning) only; every other request is refused and noted. */
export async function watchedPage(
  browser: Browser,
  origin: string,
  colorScheme: 'light' | 'dark' = 'light',
): Promise<WatchedPage> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, colorScheme });
  const page = await context.newPage();
  const complaints: string[] = [];
  await page.route('**/*', (route) => {
    const url = route.request().url();
    if (url.startsWith(origin) || url.startsWith('data:')) return route.continue();
    complaints.push(`asked ${url}`);
    return route.abort();
  });
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(`console: ${message.text()}`);
  });
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  return { page, context, complaints };
}

/** Goes to a page and waits until its script has taken over. */
export async function open(page: Page, address: string): Promise<void> {
  await page.goto(address);
  await page.waitForSelector('html[data-ready]');
}

const axeSource = readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Serious and critical findings of axe on the page as it is now, with the elements they are about. */
export async function seriousFindings(page: Page, rules?: readonly string[]): Promise<readonly string[]> {
  // Over the debugger's connection, which the page's policy does not hold for.
  await page.evaluate(await axeSource);
  return page.evaluate(async (only) => {
    const { axe } = globalThis as unknown as { axe: typeof import('axe-core') };
    const { violations } = await axe.run(document, {
      resultTypes: ['violations'],
      ...(only === undefined ? {} : { runOnly: [...only] }),
    });
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(
        ({ id, nodes }) =>
          `${id}: ${nodes
            .slice(0, 3)
            .map(({ html }) => html.slice(0, 160))
            .join(' | ')}`,
      );
  }, rules);
}
