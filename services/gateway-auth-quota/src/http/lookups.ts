/**
 * The data routes: how the question of each is read. Where it stands in URLs, and what parameters there are, is from the routes as data in
 * `@netfacts/contracts/openapi`; everything else is the same for all (`lookup-route.ts`).
 */

import { type Format, formats, listViews, type OperationName, pagedLists, type Questions, rpkiStates } from "@netfacts/contracts";
import { dataRoutes } from "@netfacts/contracts/openapi";
import type { QuestionReader } from "./question-reader.ts";

/** One data route. */
export interface Lookup<O extends OperationName> {
  readonly op: O;
  /** Patterns below `/api/v1`. */
  readonly urls: readonly string[];
  /** Query parameters that the route takes. */
  readonly parameters: readonly string[];
  /** Formats that it has; JSON comes first. */
  readonly formats: readonly [Format, ...Format[]];
  /** Whether it has lists that page. */
  readonly pages: boolean;
  read(reader: QuestionReader): Questions[O];
}

/** @param otherUrls  further patterns for the same question. */
function lookup<O extends OperationName>(
  op: O,
  read: (reader: QuestionReader) => Questions[O],
  otherUrls: readonly string[] = [],
): Lookup<O> {
  const route = dataRoutes.find((candidate) => candidate.op === op);
  if (route === undefined) throw new Error(`operation ${op} has no route`);
  return {
    op,
    urls: [route.path.replace("/api/v1", "").replaceAll(/\{(\w+)\}/g, ":$1"), ...otherUrls],
    parameters: route.parameters.filter((parameter) => parameter.in === "query").map(({ name }) => name),
    formats: listViews[op] === undefined ? ["json"] : (formats as readonly Format[] as [Format, ...Format[]]),
    pages: pagedLists[op] !== undefined,
    read,
  };
}

const ip = lookup("ip", (reader) => ({ ip: reader.ip() }));

const routing = lookup("routing", (reader) => {
  const ip = reader.ip();
  const include = reader.choices("include", ["more_specifics", "upstreams"]);
  return {
    ip,
    moreSpecifics: include.has("more_specifics"),
    upstreams: include.has("upstreams"),
    limit: reader.limit(),
  };
});

const asn = lookup("asn", (reader) => {
  const asn = reader.pathAsn();
  const family = reader.choice("family", ["4", "6"]);
  return {
    asn,
    family: family === null ? null : family === "4" ? 4 : 6,
    rpki: reader.choice("rpki", rpkiStates),
    aggregate: reader.choice("aggregate", ["true", "false"]) === "true",
    limit: reader.limit(),
  };
});

// The second form takes a prefix whose slash is percent-encoded.
const prefix = lookup("prefix", (reader) => ({ prefix: reader.pathPrefix(), limit: reader.limit() }), ["/prefix/:network"]);

const reverseDns = lookup("reverse_dns", (reader) => ({ ip: reader.ip() }));

const validity = lookup("validity", (reader) => ({ asn: reader.queryAsn("asn"), prefix: reader.queryPrefix("prefix") }));

/** Every data route that needs a key. */
export const lookups: readonly Lookup<OperationName>[] = [ip, routing, asn, prefix, reverseDns, validity];
