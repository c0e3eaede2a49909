/** The pages of docs/api/records: for each record its schema, its facts and its example. */

import type { Static, TSchema } from "typebox";
import { batchExample } from "../examples/batch.ts";
import { examples } from "../examples/index.ts";
import { metaWithData } from "../examples/meta.ts";
import { Meta, metaFacts } from "../meta.ts";
import type { OperationName } from "../operations/index.ts";
import { AsnRecord, asnFacts } from "../records/asn.ts";
import { BatchAnswer, batchFacts } from "../records/batch.ts";
import { IpRecord, ipFacts } from "../records/ip.ts";
import { MeRecord, meFacts } from "../records/me.ts";
import { PrefixRecord, prefixFacts } from "../records/prefix.ts";
import { Problem, problemFacts } from "../records/problem.ts";
import { ReverseDnsRecord, reverseDnsFacts } from "../records/reverse-dns.ts";
import { RoutingRecord, routingFacts } from "../records/routing.ts";
import { StatusRecord, statusFacts } from "../records/status.ts";
import { ValidityRecord, validityFacts } from "../records/validity.ts";
import type { FactsOf } from "./fact.ts";

/** One page. The route that answers with the record is the one that has the same example. */
export interface RecordPage {
  /** Name of the record, without an article. */
  readonly title: string;
  /** What the record is, in a sentence. */
  readonly intro: string;
  readonly schema: TSchema;
  /** Nested as the schema. */
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

/** By the name of the page's file, in the order of the index. */
export const recordPages = {
  ip: page("Address", "What is known of one address, in short.", IpRecord, ipFacts, examples.ip),
  routing: page(
    "Routing",
    "The announced prefix that holds an address, and each of its origins.",
    RoutingRecord,
    routingFacts,
    examples.routing,
  ),
  asn: page("AS", "The registration, announcements and neighbours of one AS.", AsnRecord, asnFacts, examples.asn),
  prefix: page("Prefix", "How one prefix is announced, authorised and registered.", PrefixRecord, prefixFacts, examples.prefix),
  reverse_dns: page("Reverse DNS", "The names of one address in DNS.", ReverseDnsRecord, reverseDnsFacts, examples.reverse_dns),
  validity: page("Validity", "RPKI origin validation of any pair of AS and prefix.", ValidityRecord, validityFacts, examples.validity),
  me: page("Calling key", "The key of the request and what is left of its limits.", MeRecord, meFacts, examples.me),
  status: page("Status", "The data in service.", StatusRecord, statusFacts, examples.status),
  batch: page("Batch", "The answers to many requests, in their order.", BatchAnswer, batchFacts, batchExample),
  problem: page("Problem", "The body of every answer that is not a record (RFC 9457).", Problem, problemFacts, examples.problem),
  meta: page(
    "Meta",
    "The last member of every record: when it was made, from which data, and what to mind.",
    Meta,
    metaFacts,
    metaWithData,
  ),
} as const satisfies Readonly<Record<OperationName | "me" | "batch" | "problem" | "meta", RecordPage>>;

export type RecordPageName = keyof typeof recordPages;
