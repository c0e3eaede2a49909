/** The operations: what can be asked of the services, who answers it, and what a key needs for it. */

import type { Static } from "typebox";
import { AsnRecord } from "./records/asn.ts";
import { IpRecord } from "./records/ip.ts";
import type { Scope } from "./records/me.ts";
import { PrefixRecord } from "./records/prefix.ts";
import { ReverseDnsRecord } from "./records/reverse-dns.ts";
import { RoutingRecord } from "./records/routing.ts";
import { StatusRecord } from "./records/status.ts";
import { ValidityRecord } from "./records/validity.ts";

/** Services that answer operations. */
export const serviceNames = ["ip-routing", "asn-prefix", "rdns-resolver"] as const;
export type ServiceName = (typeof serviceNames)[number];

/**
 * Name → the number that stands for it in frames, service, scope (null = open to all), and the schema of the record that answers it.
 * A number is 1 to 255 and is never given to another operation.
 */
export const operations = {
  ip: { name: "ip", code: 1, service: "ip-routing", scope: "ip", record: IpRecord },
  routing: { name: "routing", code: 2, service: "ip-routing", scope: "routing", record: RoutingRecord },
  validity: { name: "validity", code: 3, service: "ip-routing", scope: "routing", record: ValidityRecord },
  status: { name: "status", code: 4, service: "ip-routing", scope: null, record: StatusRecord },
  asn: { name: "asn", code: 5, service: "asn-prefix", scope: "asn", record: AsnRecord },
  prefix: { name: "prefix", code: 6, service: "asn-prefix", scope: "prefix", record: PrefixRecord },
  reverse_dns: { name: "reverse_dns", code: 7, service: "rdns-resolver", scope: "reverse_dns", record: ReverseDnsRecord },
} as const satisfies Record<string, { name: string; code: number; service: ServiceName; scope: Scope | null; record: object }>;

export type OperationName = keyof typeof operations;

const namesByCode = new Map<number, OperationName>(Object.values(operations).map(({ code, name }) => [code, name]));

/** The operation of a number; null: none of this version. */
export function operationByCode(code: number): OperationName | null {
  return namesByCode.get(code) ?? null;
}

/** The record that answers an operation. */
export type RecordOf<O extends OperationName> = Static<(typeof operations)[O]["record"]>;
