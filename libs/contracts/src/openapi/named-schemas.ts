/** The schemas that have a name: every object schema that the package exports, by the name of its export, and records of some members. */

import type { TSchema } from "typebox";
import * as contracts from "../index.ts";
import { someMembers } from "../some-members.ts";

const exported = Object.entries(contracts as Readonly<Record<string, unknown>>).filter((entry): entry is [string, TSchema] =>
  isObjectSchema(entry[1]),
);

/** `SomeOfIpRecord`: what `fields` may keep of an `IpRecord`. */
const some = contracts.batchKinds.flatMap((op) =>
  exported.filter(([, schema]) => schema === contracts.operations[op].record).map(([name]) => [`SomeOf${name}`, someMembers(op)] as const),
);

export const namedSchemas: Readonly<Record<string, TSchema>> = Object.fromEntries(
  [...exported, ...some].sort(([a], [b]) => (a < b ? -1 : 1)),
);

function isObjectSchema(value: unknown): boolean {
  return typeof value === "object" && value !== null && "type" in value && value.type === "object" && "properties" in value;
}
