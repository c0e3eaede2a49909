/** The operations of the services. Each is described once, in the file of its name. Everything else is derived from here. */

import type { Static } from "typebox";
import { asn } from "./asn.ts";
import { asnVrps } from "./asn-vrps.ts";
import { asnChanges, prefixChanges } from "./changes.ts";
import type { Codec } from "./codec.ts";
import { ip } from "./ip.ts";
import type { LookupDescription, ServiceName } from "./operation.ts";
import { prefix } from "./prefix.ts";
import { reverseDns } from "./reverse-dns.ts";
import { routing } from "./routing.ts";
import { search } from "./search.ts";
import { status } from "./status.ts";
import { validity } from "./validity.ts";

/** In the order of the reference page. */
const all = [search, ip, routing, asn, prefix, reverseDns, validity, asnVrps, asnChanges, prefixChanges, status] as const;

type Described = (typeof all)[number];
export type OperationName = Described["name"];
export type Operations = { readonly [O in OperationName]: Extract<Described, { readonly name: O }> };

/** Each operation by its name. */
export const operations = Object.fromEntries(all.map((each) => [each.name, each])) as Operations;

/** The question of each operation. */
export type Questions = { readonly [O in OperationName]: Operations[O]["question"] extends Codec<infer Q> ? Q : never };

/** The record that answers an operation. */
export type RecordOf<O extends OperationName> = Static<Operations[O]["record"]>;

/** The operations that one service answers. */
export type OperationOf<S extends ServiceName> = Extract<Described, { readonly service: S }>["name"];

/** The operations that have a data route. */
export type LookupName = { readonly [O in OperationName]: Operations[O]["lookup"] extends null ? never : O }[OperationName];

/** Names of the lookups, in the order of the reference page. */
export const lookupNames: readonly LookupName[] = all.flatMap(({ name, lookup }) => (lookup === null ? [] : [name]));

/** The lookups that compare kept snapshots. */
export type ChangesName = { readonly [O in LookupName]: Operations[O]["lookup"]["batch"] extends null ? O : never }[LookupName];

/** The lookups about one time, which batches take. */
export type BatchKind = Exclude<LookupName, ChangesName>;

export function isChanges(op: OperationName): op is ChangesName {
  const { lookup }: { readonly lookup: LookupDescription | null } = operations[op];
  return lookup !== null && lookup.batch === null;
}

/** Every kind of question in batches. */
export const batchKinds: readonly BatchKind[] = lookupNames.filter((name): name is BatchKind => !isChanges(name));

const namesByCode = new Map<number, OperationName>(all.map(({ code, name }) => [code, name]));

/** The operation with a number; null if this version has none. */
export function operationByCode(code: number): OperationName | null {
  return namesByCode.get(code) ?? null;
}
