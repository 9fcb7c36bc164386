/**
 * The public TypeScript API of m4bench: the operations of the command line, typed. Each group re-exports one
 * module; the command line is a thin layer on the same functions.
 */

// Runs: agents in sandboxes, behind the gateway.
export type { Agent, AgentLaunch, AgentRequest, TokenCounts } from './agents/agent.js';
export { agentNamed, agentNames } from './agents/agents.js';
export { rewardByTaskAndCondition, skillDeltas, skillEffect } from './analysis/skill-effect.js';
export { type Table, toCsv, toMarkdown, toText } from './analysis/tables.js';
// Campaigns and analysis.
export { readIndex } from './campaigns/campaign-index.js';
export { type CoordinateOptions, coordinateCampaign } from './campaigns/coordinate.js';
export {
  type JournalLine,
  type JournalReading,
  type ResultEntry,
  readJournal,
} from './campaigns/journal.js';
export { type CampaignPlan, freezePlan, planCampaign, readPlan } from './campaigns/plan.js';
export { loadProfile, type Profile, profileNames } from './campaigns/profile.js';
export {
  type CampaignEvent,
  type CampaignLimits,
  type CampaignOutcome,
  type RunCampaignOptions,
  readResults,
  runCampaign,
} from './campaigns/run.js';
export { folderStore, type RunStore } from './campaigns/run-store.js';
export { type CampaignStatus, campaignStatus } from './campaigns/status.js';
export { type WorkQueueOptions, workQueue } from './campaigns/worker.js';
// Concepts and references: derived tables and the tables outputs are scored against.
export { type BuildConceptsOptions, type BuiltConcept, buildConcepts } from './concepts/build.js';
export { type Concept, loadConcepts } from './concepts/concept.js';
export { type ConceptGraph, conceptGraph } from './concepts/graph.js';
export { type ContextPackage, contextPackage } from './conditions/context-package.js';
// Data: releases into lakes, generated datasets.
export {
  chooseDataset,
  type Dataset,
  type DatasetManifest,
  datasetsFor,
  listDatasets,
  openDataset,
  parquetPath,
} from './datasets/dataset.js';
export { type ImportOptions, importDataset } from './datasets/import.js';
export { synthesizeDataset } from './datasets/synthesize.js';
// Foundations that these signatures mention.
export { DuckSession, type SessionOptions } from './duck/session.js';

// Scoring.
export { evaluateOutput } from './evaluation/evaluate.js';
export type { Evaluation, EvaluationExamples } from './evaluation/evaluation.js';
export { Gateway, type GatewayOptions } from './gateway/gateway.js';
export type { GatewayExchange, GatewaySummary, Provider } from './gateway/gateway-types.js';
export { providersFromEnvironment } from './gateway/providers.js';
export { buildReferences, openReference, type Reference } from './references/build.js';
export { type Cell, runIdOf } from './runs/cell.js';
export { CellPreparation, type CellRequest, type PreparedCell } from './runs/prepare.js';
export { type Attempt, type RunResult, resultSchema } from './runs/result.js';
export { executeRun, type RunEnvironment, type RunRequest } from './runs/run.js';
export type { PreparedSandbox, Sandbox, SandboxLimits, SandboxSpec } from './sandboxes/sandbox.js';
export { sandboxKinds, sandboxOf } from './sandboxes/sandboxes.js';
export { type AllowedRelation, buildTaskDatabase, type TaskDatabase } from './schemas/task-database.js';
export { M4BenchError } from './support/errors.js';
export { type Home, homeAt } from './support/home.js';
export type { Progress } from './support/progress.js';
// Tasks and what an agent is given.
export { type ConditionName, conditionNames, parseCondition } from './tasks/condition.js';
export { findTask, loadTasks } from './tasks/load-tasks.js';
export { loadProtocol, type Protocol } from './tasks/protocol.js';
export { removedRelations } from './tasks/removal.js';
export type { OutputContract, Task } from './tasks/task.js';
export { benchmarkVersion } from './version.js';
