/**
 * The public TypeScript API of m4bench: the operations of the command line, typed, in the order in which the work
 * goes. The command line is a thin layer on the same functions. Detached comments keep the groups apart.
 */

// Foundations that the signatures below mention: where things lie, how errors and progress look.

export { DuckSession, type SessionOptions } from './duck/session.js';
export { type ErrorParty, M4BenchError } from './support/errors.js';
export { type Home, homeAt } from './support/home.js';
export { type Progress, silentProgress } from './support/progress.js';
export { benchmarkVersion } from './version.js';

// Data: releases and own files into datasets, generated datasets, checks.

export {
  chooseDataset,
  type Dataset,
  type DatasetManifest,
  datasetsFor,
  listDatasets,
  openDataset,
  parquetPath,
} from './datasets/dataset.js';
export { type DownloadOptions, downloadRelease } from './datasets/download.js';
export { type ImportOptions, importDataset } from './datasets/import.js';
export { type OwnDatabase, readOwnSchema } from './datasets/own-schema.js';
export { type SynthesizeOptions, synthesizeDataset } from './datasets/synthesize.js';
export { type DatasetVerification, verifyDataset } from './datasets/verify.js';
export { type CompareOptions, compareDatasets } from './references/compare-datasets.js';

// Concepts and references: derived tables, and the tables that outputs are scored against.

export { type BuildConceptsOptions, type BuiltConcept, buildConcepts } from './concepts/build.js';
export { type Concept, loadConcepts } from './concepts/concept.js';
export { type ConceptGraph, conceptGraph } from './concepts/graph.js';
export {
  type BuildReferencesOptions,
  buildReferences,
  openReference,
  type Reference,
} from './references/build.js';
export { allReferenceQueries, type ReferenceQuery } from './references/reference.js';

// Tasks, shipped and own, and what an agent is given of them.

export { type ContextPackage, type ContextRequest, contextPackage } from './conditions/context-package.js';
export { parseSchema, presentedNames } from './conditions/presented-names.js';
export { type ConditionName, conditionNames, parseCondition } from './tasks/condition.js';
export { type Finding, type LintOptions, lintContent } from './tasks/lint.js';
export { findTask, type LoadTasksOptions, loadTasks } from './tasks/load-tasks.js';
export { type NewTask, writeNewTask } from './tasks/new-task.js';
export { loadProtocol, type Protocol, protocolNames } from './tasks/protocol.js';
export { removedRelations } from './tasks/removal.js';
export type { OutputContract, Skill, Task } from './tasks/task.js';

// Skills as a library of their own.

export { type InstalledSkill, installSkills } from './skills/install-skills.js';
export { type LibrarySkill, skillLibrary } from './skills/skill-library.js';

// Schemas: the same data under other names and shapes, and the database of a task.

export { type Equivalence, proveEquivalence } from './schemas/equivalence.js';
export { type Presentation, presentationOf, type SchemaName } from './schemas/presentation.js';
export { type PresentedDatabase, presentedRelations } from './schemas/presented-database.js';
export { type AllowedRelation, buildTaskDatabase, type TaskDatabase } from './schemas/task-database.js';

// Runs: agents in sandboxes, behind the gateway.

export type { Agent, AgentLaunch, AgentRequest, TokenCounts } from './agents/agent.js';
export { agentNamed, agentNames } from './agents/agents.js';
export { Gateway, type GatewayOptions } from './gateway/gateway.js';
export type { GatewayExchange, GatewaySummary, Provider } from './gateway/gateway-types.js';
export { providersFromEnvironment } from './gateway/providers.js';
export { type Cell, runIdOf } from './runs/cell.js';
export { CellPreparation, type CellRequest, type PreparedCell } from './runs/prepare.js';
export { type Attempt, type RunResult, resultSchema } from './runs/result.js';
export { executeRun, type RunEnvironment, type RunRequest } from './runs/run.js';
export { currentRootfs, type Rootfs } from './sandboxes/rootfs.js';
export { buildRootfs } from './sandboxes/rootfs-build.js';
export type { PreparedSandbox, Sandbox, SandboxLimits, SandboxSpec } from './sandboxes/sandbox.js';
export { sandboxKinds, sandboxOf } from './sandboxes/sandboxes.js';

// Traces: what an agent did, in one shape for all of them.

export { readTranscript, traceFormatOf } from './agents/trace-formats.js';
export type { Transcript } from './agents/transcript.js';
export { transcriptHtml } from './agents/transcript-html.js';
export { transcriptText } from './agents/transcript-text.js';

// Scoring.

export { evaluateOutput } from './evaluation/evaluate.js';
export type { Evaluation, EvaluationExamples } from './evaluation/evaluation.js';

// Integrity: verdicts worked out again from the files of a run.

export { auditRun, type RunAudit } from './audit/audit-run.js';
export { type Rescore, rescoreRun } from './audit/rescore.js';

// Campaigns: plans, profiles, execution, state.

export { readIndex } from './campaigns/campaign-index.js';
export { type CoordinateOptions, coordinateCampaign } from './campaigns/coordinate.js';
export {
  type JournalLine,
  type JournalReading,
  type ResultEntry,
  readJournal,
} from './campaigns/journal.js';
export {
  type CampaignPlan,
  campaignFolder,
  freezePlan,
  type PlanOptions,
  planCampaign,
  readPlan,
} from './campaigns/plan.js';
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

// Analysis: every table and figure from the results, by one function each.

export { type Analysis, type AnalyzeOptions, analyze } from './analysis/analyze.js';
export { type CampaignAnalysis, renderAnalysis } from './analysis/campaign-report.js';
export { compareRuns } from './analysis/compare.js';
export { readCampaignRows } from './analysis/read-campaign.js';
export { readPublishedRuns } from './analysis/read-published.js';
export type { RunRow } from './analysis/run-row.js';
export type { RunSet } from './analysis/run-set.js';
export { rewardByTaskAndCondition, skillDeltas, skillEffect } from './analysis/skill-effect.js';
export { type Table, toCsv, toMarkdown, toText } from './analysis/tables.js';
export { taskFactsOf } from './analysis/task-facts.js';
export { analysisDocument, writeAnalysisFiles } from './analysis/write-analysis.js';

// Evidence: what is published of a campaign, and reports.

export { type ImportedCampaign, importPackage } from './evidence/import-package.js';
export { importPublished } from './evidence/import-published.js';
export { type Packed, type PackOptions, packCampaign } from './evidence/pack.js';
export { loadRuleset, type PackageMode, type Ruleset } from './evidence/ruleset.js';
export { signJournal } from './evidence/sign-journal.js';
export { unpackPackage } from './evidence/unpack.js';
export { type Verification, type VerifyOptions, verifyPackage } from './evidence/verify.js';
export { exportHarbor, type HarborExport, type HarborExportOptions } from './export/export-harbor.js';
export { exportInspect, type InspectExport } from './export/export-inspect.js';
export { writeReport } from './viewer/report.js';
export { startViewer, type Viewer, type ViewerOptions } from './viewer/server.js';
