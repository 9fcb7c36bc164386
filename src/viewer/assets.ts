import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { M4BenchError } from '../support/errors.js';
import { packageRoot } from '../support/home.js';

/** Files that all pages share, made by `npm run build:viewer`. */
export const assetTypes = {
  'viewer.css': 'text/css; charset=utf-8',
  'viewer.js': 'text/javascript; charset=utf-8',
} as const;
export type AssetName = keyof typeof assetTypes;

/** Reads the built files. Throws `VIEWER_NOT_BUILT` in a checkout where they were not made yet. */
export async function readAssets(
  folder = join(packageRoot(), 'dist', 'viewer'),
): Promise<Readonly<Record<AssetName, Buffer>>> {
  try {
    const [css, js] = await Promise.all(
      (Object.keys(assetTypes) as AssetName[]).map((name) => readFile(join(folder, name))),
    );
    return { 'viewer.css': css!, 'viewer.js': js! };
  } catch (cause) {
    throw new M4BenchError(
      'VIEWER_NOT_BUILT',
      `The style and script of the pages are not in ${folder}.`,
      'In a checkout run npm run build:viewer; else install m4bench again.',
      { cause },
    );
  }
}

/** The style sheet without its fonts, for a page that is one small file. */
export function styleWithoutFonts(assets: Readonly<Record<AssetName, Buffer>>): string {
  return assets['viewer.css'].toString('utf8').replace(/@font-face\s*\{[^}]*\}/g, '');
}
