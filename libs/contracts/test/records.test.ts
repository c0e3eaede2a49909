/** Records: the example of each fits its schema, and what is no record does not. */

import { describe, expect, test } from "@jest/globals";
import type { TSchema } from "typebox";
import { Value } from "typebox/value";
import {
  AsProfile,
  AsProfiles,
  AuditRecords,
  CreatedKey,
  examples,
  IngestRun,
  IngestRuns,
  IngestSources,
  KeptSnapshots,
  KeyPatch,
  KeyRotation,
  ManagedKey,
  ManagedKeys,
  MeRecord,
  NewKey,
  ObservationsDeleted,
  ObservationUpload,
  ObservationUploads,
  type OperationName,
  operations,
  Plan,
  PlanLimits,
  Plans,
  Problem,
  ProfileFields,
  RollbackRequest,
  RotatedKey,
  RunRequest,
  SnapshotChanges,
  StoredObservation,
  UsageItems,
} from "../src/index.ts";
import { nullable, record } from "../src/schema.ts";

type Json = null | boolean | number | string | Json[] | { [member: string]: Json };

const ofOperations = Object.fromEntries(Object.values(operations).map(({ name, record }): [string, TSchema] => [name, record]));

const schemas: Record<keyof typeof examples, TSchema> = {
  ...(ofOperations as Record<OperationName, TSchema>),
  me: MeRecord,
  run: IngestRun,
  runs: IngestRuns,
  run_request: RunRequest,
  rollback: IngestRun,
  rollback_request: RollbackRequest,
  sources: IngestSources,
  snapshots: KeptSnapshots,
  upload: ObservationUpload,
  uploads: ObservationUploads,
  stored_observation: StoredObservation,
  snapshot_changes: SnapshotChanges,
  observations_deleted: ObservationsDeleted,
  managed_key: ManagedKey,
  managed_keys: ManagedKeys,
  created_key: CreatedKey,
  rotated_key: RotatedKey,
  new_key: NewKey,
  key_patch: KeyPatch,
  key_rotation: KeyRotation,
  plan: Plan,
  plans: Plans,
  plan_limits: PlanLimits,
  profile: AsProfile,
  profiles: AsProfiles,
  profile_fields: ProfileFields,
  audit: AuditRecords,
  usage: UsageItems,
  problem: Problem,
};

const names = Object.keys(examples) as (keyof typeof examples)[];

describe.each(names)("the record %s", (name) => {
  const schema = schemas[name];
  const example = examples[name] as unknown as { [member: string]: Json };

  test("accepts its example", () => {
    expect([...Value.Errors(schema, example)]).toEqual([]);
  });

  test("has the members of its example in the same order", () => {
    for (const [object, members] of objectsWithSchema(schema as unknown as SchemaNode, example)) {
      expect(Object.keys(object)).toEqual(members.filter((member) => member in object));
    }
  });

  test("refuses a member that it does not know, at any depth", () => {
    for (const [object] of objectsWithSchema(schema as unknown as SchemaNode, example)) {
      object.surprise = true;
      expect(Value.Check(schema, example)).toBe(false);
      delete object.surprise;
    }
    expect(Value.Check(schema, example)).toBe(true);
  });

  test("refuses to miss a member", () => {
    for (const member of Object.keys(example)) {
      const isOptional = !(schema as unknown as SchemaNode).required?.includes(member);
      const { [member]: _, ...rest } = example;
      expect([member, Value.Check(schema, rest)]).toEqual([member, isOptional]);
    }
  });
});

test("a record that compiled serialisers write has no anyOf", () => {
  for (const schema of Object.values(schemas)) expect(JSON.stringify(schema)).not.toContain('"anyOf"');
});

test("every record of an operation ends with meta", () => {
  for (const { record } of Object.values(operations)) expect(Object.keys(record.properties).at(-1)).toBe("meta");
});

test("nullable takes null beside the type, and an enumeration too", () => {
  const schema = nullable(record({}));
  expect(Value.Check(schema, null)).toBe(true);
  expect(Value.Check(schema, {})).toBe(true);
  expect(Value.Check(schema, "")).toBe(false);
  expect(() => nullable(schema)).toThrow(TypeError);
});

interface SchemaNode {
  readonly properties?: Record<string, SchemaNode>;
  readonly items?: SchemaNode;
  readonly required?: string[];
}

/** Every object of the value with the member names of its schema; maps (schemas without members) are left out. */
function* objectsWithSchema(schema: SchemaNode, value: Json): Generator<[{ [member: string]: Json }, string[]]> {
  if (Array.isArray(value)) {
    for (const item of value) if (schema.items !== undefined) yield* objectsWithSchema(schema.items, item);
  } else if (value !== null && typeof value === "object" && schema.properties !== undefined) {
    yield [value, Object.keys(schema.properties)];
    for (const [member, node] of Object.entries(schema.properties)) {
      const part = value[member];
      if (part !== undefined) yield* objectsWithSchema(node, part);
    }
  }
}
