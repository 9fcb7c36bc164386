import { join } from 'node:path';
import { z } from 'zod';
import type { TokenCounts } from '../agents/agent.js';
import { benchmarkFolder } from '../support/home.js';
import { readTomlFile } from '../support/toml-file.js';

const dollars = z.number().nonnegative();

const modelPriceSchema = z.strictObject({
  /** Exact name, or a beginning followed by `-` and a date or version. */
  model: z.string().min(1),
  input: dollars,
  /** Input read from the provider's cache; default the price of input. */
  cached_input: dollars.optional(),
  /** Input written to the provider's cache; default the price of input. */
  cache_write: dollars.optional(),
  output: dollars,
});

const pricesFileSchema = z.strictObject({
  /** Day on which the table was last compared with the providers' lists. */
  as_of: z.iso.date(),
  currency: z.literal('USD'),
  /** Providers whose answers cost nothing per token: models on the user's own machines. */
  free_providers: z.array(z.string()).default([]),
  models: z.array(modelPriceSchema),
});
export type PriceTable = z.infer<typeof pricesFileSchema>;

/** The table that ships with the benchmark, or one of the user's own. */
export function readPrices(file: string = join(benchmarkFolder(), 'prices.toml')): Promise<PriceTable> {
  return readTomlFile(file, pricesFileSchema, 'PRICES_INVALID', 'price table');
}

const VERSION_SUFFIX = /^[-@:](\d|latest|preview)/;

/** The price line of a model: its exact name, else the longest beginning that only a date or version follows. */
function priceOf(table: PriceTable, model: string): PriceTable['models'][number] | undefined {
  // Routers put the maker before the name.
  const name = model.slice(model.lastIndexOf('/') + 1);
  const exact = table.models.find((line) => line.model === name);
  if (exact !== undefined) return exact;
  return table.models
    .filter((line) => name.startsWith(line.model) && VERSION_SUFFIX.test(name.slice(line.model.length)))
    .sort((a, b) => b.model.length - a.model.length)[0];
}

/** Whether a budget in money can be held for this model. */
export function hasPrice(table: PriceTable, provider: string, model: string | null): boolean {
  return table.free_providers.includes(provider) || (model !== null && priceOf(table, model) !== undefined);
}

/** US dollars of one answer (prices are per million tokens), or null when the model has no price. */
export function costOf(
  table: PriceTable,
  provider: string,
  model: string | null,
  tokens: TokenCounts,
): number | null {
  if (table.free_providers.includes(provider)) return 0;
  const price = model === null ? undefined : priceOf(table, model);
  if (price === undefined) return null;
  const fresh = Math.max(0, tokens.input - tokens.cachedInput - tokens.cacheWrite);
  const total =
    fresh * price.input +
    tokens.cachedInput * (price.cached_input ?? price.input) +
    tokens.cacheWrite * (price.cache_write ?? price.input) +
    tokens.output * price.output;
  return total / 1e6;
}
