import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Resvg } from '@resvg/resvg-js';
import { Error as onlyErrors, parse, View } from 'vega';
import { compile } from 'vega-lite';
import { M4BenchError, messageOf } from '../support/errors.js';
import { type Figure, figureFont } from './figures.js';

/** Renders a Vega-Lite figure as SVG, without a browser. Throws `FIGURE_INVALID`. */
export async function renderSvg(figure: Figure): Promise<string> {
  try {
    const { spec } = compile(figure, { logger: silentLogger() });
    const view = new View(parse(spec), { renderer: 'none', logLevel: onlyErrors });
    const svg = await view.toSVG();
    view.finalize();
    return withFixedIds(svg);
  } catch (thrown) {
    throw new M4BenchError(
      'FIGURE_INVALID',
      `A figure could not be drawn: ${messageOf(thrown)}.`,
      'Report this with the Vega-Lite specification.',
      { party: 'internal', cause: thrown },
    );
  }
}

/** Numbers clip paths and gradients from 1; Vega counts them over the life of the process. */
function withFixedIds(svg: string): string {
  const numbers = new Map<string, number>();
  return svg.replace(
    /(id="|url\(#)(clip|gradient_)(\d+)(?=[")])/g,
    (_, before: string, kind: string, id: string) => {
      const key = `${kind}${id}`;
      if (!numbers.has(key)) numbers.set(key, numbers.size + 1);
      return `${before}${kind}${numbers.get(key)}`;
    },
  );
}

/** Renders an SVG as PNG at `scale` pixels per unit, with the shipped font only, so that it is the same everywhere. */
export function renderPng(svg: string, scale = 2): Uint8Array {
  const image = new Resvg(svg, {
    fitTo: { mode: 'zoom', value: scale },
    background: 'white',
    font: {
      loadSystemFonts: false,
      fontFiles: [...shippedFonts()],
      defaultFontFamily: figureFont,
      sansSerifFamily: figureFont,
    },
  });
  return image.render().asPng();
}

/** Files of the shipped font: regular and bold. */
function shippedFonts(): readonly string[] {
  const folder = dirname(createRequire(import.meta.url).resolve('@expo-google-fonts/pt-sans/package.json'));
  const files = ['400Regular/PTSans_400Regular.ttf', '700Bold/PTSans_700Bold.ttf'].map((name) =>
    join(folder, name),
  );
  const missing = files.find((file) => !existsSync(file));
  if (missing === undefined) return files;
  throw new M4BenchError(
    'PACKAGE_BROKEN',
    `The font ${missing} is missing: labels would vanish.`,
    'Install m4bench again.',
    { party: 'internal' },
  );
}

/** Vega-Lite warns about much that is meant; only its errors are of interest, and it throws those. */
function silentLogger() {
  const logger = {
    level: () => logger,
    error: () => logger,
    warn: () => logger,
    info: () => logger,
    debug: () => logger,
  };
  return logger as never;
}
