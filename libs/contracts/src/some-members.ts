/** Records with only those members that `fields` and `meta` kept. */

import Type, { type TSchema } from "typebox";
import type { Meta } from "./meta.ts";
import { type OperationName, operations, type RecordOf } from "./operations/index.ts";
import { record } from "./schema.ts";

/** Any members of a record, `meta` among them. */
export type SomeMembers<R extends { readonly meta: Meta }> = Partial<R>;

const partial = new Map<OperationName, TSchema>();

/** The schema of an operation's record with all members optional. Returns the same object each time. */
export function someMembers<O extends OperationName>(op: O): TSchema {
  let schema = partial.get(op);
  if (schema === undefined) {
    const members: Readonly<Record<string, TSchema>> = operations[op].record.properties;
    schema = record(Object.fromEntries(Object.entries(members).map(([name, member]) => [name, Type.Optional(member)])));
    partial.set(op, schema);
  }
  return schema;
}

/** What can answer a question of this operation: its record, or the members that `fields` kept. */
export type ShownRecord<O extends OperationName> = RecordOf<O> | SomeMembers<RecordOf<O>>;
