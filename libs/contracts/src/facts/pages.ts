/** The pages of docs/api/records: for each record its schema, its facts and its example. */

import type { Static, TSchema } from "typebox";
import { batchExample } from "../examples/batch.ts";
import { examples } from "../examples/index.ts";
import { metaWithData } from "../examples/meta.ts";
import { Meta, metaFacts } from "../meta.ts";
import { lookupNames, type OperationName, operations } from "../operations/index.ts";
import { AuditRecords, auditFacts } from "../records/audit.ts";
import { BatchAnswer, batchFacts } from "../records/batch.ts";
import { IngestRun, IngestRuns, IngestSources, runFacts, runsFacts, sourcesFacts } from "../records/ingest.ts";
import {
  CreatedKey,
  createdKeyFacts,
  ManagedKey,
  ManagedKeys,
  managedKeyFacts,
  managedKeysFacts,
  Plan,
  Plans,
  planFacts,
  plansFacts,
  RotatedKey,
  rotatedKeyFacts,
} from "../records/keys.ts";
import { MeRecord, meFacts } from "../records/me.ts";
import {
  ObservationsDeleted,
  ObservationUpload,
  ObservationUploads,
  observationsDeletedFacts,
  StoredObservation,
  storedObservationFacts,
  uploadFacts,
  uploadsFacts,
} from "../records/observations.ts";
import { Problem, problemFacts } from "../records/problem.ts";
import { AsProfile, AsProfiles, asProfileFacts, asProfilesFacts } from "../records/profiles.ts";
import { KeptSnapshots, SnapshotChanges, snapshotChangesFacts, snapshotsFacts } from "../records/snapshots.ts";
import { UsageItems, usageFacts } from "../records/usage.ts";
import type { FactsOf } from "./fact.ts";

/** One page. The route of a record is the one with the same example. */
export interface RecordPage {
  /** Name of the record, without an article. */
  readonly title: string;
  /** What the record is, in a sentence. */
  readonly intro: string;
  readonly schema: TSchema;
  /** Nested like the schema. */
  readonly facts: object;
  readonly example: object;
}

function page<S extends TSchema>(
  title: string,
  intro: string,
  schema: S,
  facts: FactsOf<Static<S>>,
  example: Static<S> & object,
): RecordPage {
  return { title, intro, schema, facts, example };
}

/** Pages of the operations, from their descriptions. */
function pagesOf(names: readonly OperationName[]): Partial<Record<OperationName, RecordPage>> {
  return Object.fromEntries(
    names.map((name) => {
      const { page, record, example } = operations[name];
      return [name, { ...page, schema: record, example }];
    }),
  );
}

const isLookup = (name: OperationName): boolean => (lookupNames as readonly OperationName[]).includes(name);
const operationNames = Object.keys(operations) as OperationName[];

/** The records of the operator listener. */
const operatorPages = {
  keys: page("Keys", "A page of the list of keys.", ManagedKeys, managedKeysFacts, examples.managed_keys),
  key: page("Key", "A key without its secret, as operators see it.", ManagedKey, managedKeyFacts, examples.managed_key),
  created_key: page("Created key", "A new key, with its secret.", CreatedKey, createdKeyFacts, examples.created_key),
  rotated_key: page("Rotated key", "The successor of a key, with its secret.", RotatedKey, rotatedKeyFacts, examples.rotated_key),
  plans: page("Plans", "All plans.", Plans, plansFacts, examples.plans),
  plan: page("Plan", "The limits of a plan.", Plan, planFacts, examples.plan),
  profiles: page("Profiles", "A page of the list of AS profiles.", AsProfiles, asProfilesFacts, examples.profiles),
  profile: page("Profile", "What sources and operators say of an AS, field by field.", AsProfile, asProfileFacts, examples.profile),
  usage: page("Usage", "The number of requests by key, day and kind.", UsageItems, usageFacts, examples.usage),
  audit: page("Audit", "A page of the audit log.", AuditRecords, auditFacts, examples.audit),
  runs: page("Ingest runs", "The most recent ingest runs.", IngestRuns, runsFacts, examples.runs),
  run: page("Ingest run", "An ingest run with its report.", IngestRun, runFacts, examples.run),
  sources: page("Sources", "The state and the schedule of each source.", IngestSources, sourcesFacts, examples.sources),
  snapshots: page(
    "Snapshots",
    "The snapshots that are kept, and which pods serve them.",
    KeptSnapshots,
    snapshotsFacts,
    examples.snapshots,
  ),
  snapshot_changes: page(
    "Changes between snapshots",
    "The changes of a section between two snapshots.",
    SnapshotChanges,
    snapshotChangesFacts,
    examples.snapshot_changes,
  ),
  upload: page("Upload of observations", "How much of an upload is stored.", ObservationUpload, uploadFacts, examples.upload),
  uploads: page("Uploads of observations", "The most recent uploads.", ObservationUploads, uploadsFacts, examples.uploads),
  stored_observation: page(
    "Stored observation",
    "One line of an export of what is stored about an address.",
    StoredObservation,
    storedObservationFacts,
    examples.stored_observation,
  ),
  observations_deleted: page(
    "Deleted observations",
    "The number of stored lines that a request deleted.",
    ObservationsDeleted,
    observationsDeletedFacts,
    examples.observations_deleted,
  ),
};

export type RecordPageName = OperationName | "me" | "batch" | "problem" | "meta" | keyof typeof operatorPages;

/** Each page by the name of its file, in the order of the index. */
export const recordPages = {
  ...pagesOf(lookupNames),
  me: page("Calling key", "The key of the request and what is left of its limits.", MeRecord, meFacts, examples.me),
  ...pagesOf(operationNames.filter((name) => !isLookup(name))),
  batch: page("Batch", "The answers to many requests, in their order.", BatchAnswer, batchFacts, batchExample),
  problem: page("Problem", "The body of every answer that is not a record (RFC 9457).", Problem, problemFacts, examples.problem),
  meta: page(
    "Meta",
    "The last member of every public record: its time, the data it was made from, and warnings.",
    Meta,
    metaFacts,
    metaWithData,
  ),
  ...operatorPages,
} as Readonly<Record<RecordPageName, RecordPage>>;
