import { describe, expect, test } from 'vitest';
import { observedModels } from './observed-models.js';

const route = (asked: string, answered: string, answers: number) => ({ asked, answered, answers });

describe('observed models', () => {
  test('a model asked beside the cell’s own is a background model, with its answers', () => {
    const routes = [route('haiku', 'haiku', 3), route('opus', 'opus', 2)];
    expect(observedModels(routes, 'opus')).toEqual({
      backgroundModels: ['haiku'],
      backgroundTurns: 3,
      routing: [],
    });
  });

  test('an alias that the CLI resolves is told by the number of answers', () => {
    const routes = [
      route('claude-haiku-4-5', 'claude-haiku-4-5', 1),
      route('claude-opus-4-7', 'claude-opus-4-7', 5),
    ];
    expect(observedModels(routes, 'opus').backgroundModels).toEqual(['claude-haiku-4-5']);
    expect(observedModels(routes, undefined).backgroundModels).toEqual(['claude-haiku-4-5']);
  });

  test('an answer by another model than asked is routing, whatever the number', () => {
    const routes = [route('gpt-5.5', 'gpt-5.5-2026-04-01', 4), route('gpt-5.5', 'gpt-5.4', 1)];
    expect(observedModels(routes, 'gpt-5.5')).toEqual({
      backgroundModels: [],
      backgroundTurns: 0,
      routing: ['gpt-5.5 -> gpt-5.4', 'gpt-5.5 -> gpt-5.5-2026-04-01'],
    });
  });

  test('nothing seen is nothing said', () => {
    expect(observedModels([], 'm')).toEqual({ backgroundModels: [], backgroundTurns: 0, routing: [] });
  });
});
