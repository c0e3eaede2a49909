/** The schemas that have a name: records of operations, every object schema that the package exports, and records of some members. */

import type { TSchema } from "typebox";
import * as contracts from "../index.ts";
import { someMembers } from "../some-members.ts";

const { batchKinds, operations } = contracts;

/** `reverse_dns` → `ReverseDnsRecord`. */
function recordName(op: string): string {
  return `${op.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())}Record`;
}

const exported = Object.entries(contracts as Readonly<Record<string, unknown>>).filter((entry): entry is [string, TSchema] =>
  isObjectSchema(entry[1]),
);

const records = Object.values(operations).map(({ name, record }): [string, TSchema] => [recordName(name), record]);

/** `SomeOfIpRecord`: what `fields` may keep of an `IpRecord`. */
const some = batchKinds.map((op): [string, TSchema] => [`SomeOf${recordName(op)}`, someMembers(op)]);

export const namedSchemas: Readonly<Record<string, TSchema>> = Object.fromEntries(
  [...exported, ...records, ...some].sort(([a], [b]) => (a < b ? -1 : 1)),
);

function isObjectSchema(value: unknown): boolean {
  return typeof value === "object" && value !== null && "type" in value && value.type === "object" && "properties" in value;
}
