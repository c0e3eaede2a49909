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

/** Name → service, scope (null = open to all), and the schema of the record that answers it. */
export const operations = {
  ip: { name: "ip", service: "ip-routing", scope: "ip", record: IpRecord },
  routing: { name: "routing", service: "ip-routing", scope: "routing", record: RoutingRecord },
  validity: { name: "validity", service: "ip-routing", scope: "routing", record: ValidityRecord },
  status: { name: "status", service: "ip-routing", scope: null, record: StatusRecord },
  asn: { name: "asn", service: "asn-prefix", scope: "asn", record: AsnRecord },
  prefix: { name: "prefix", service: "asn-prefix", scope: "prefix", record: PrefixRecord },
  reverse_dns: { name: "reverse_dns", service: "rdns-resolver", scope: "reverse_dns", record: ReverseDnsRecord },
} as const satisfies Record<string, { name: string; service: ServiceName; scope: Scope | null; record: object }>;

export type OperationName = keyof typeof operations;

/** The record that answers an operation. */
export type RecordOf<O extends OperationName> = Static<(typeof operations)[O]["record"]>;
