import type { RunGates } from '../runs/gates.js';
import type { Home } from '../support/home.js';
import { armCanaries } from './canaries.js';
import { egressOf } from './egress.js';
import { lintAttempt } from './lint.js';

/** The gates that every run has unless its caller leaves them out on purpose. */
export function runGates(home: Home): RunGates {
  return {
    armCanaries: (request) => armCanaries(home, request),
    lint: (request) => lintAttempt(home, request),
    egress: egressOf,
  };
}
