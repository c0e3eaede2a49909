/**
 * The data routes: how the question of each is read. Where it stands in URLs, and what parameters there are, is from the operations in
 * `@netfacts/contracts`; everything else is the same for all (`lookup-route.ts`).
 */

import {
  type Format,
  formats,
  type LookupDescription,
  type LookupName,
  lookupNames,
  operations,
  type Questions,
  rpkiStates,
} from "@netfacts/contracts";
import { dataRoutes } from "@netfacts/contracts/openapi";
import type { QuestionReader } from "./question-reader.ts";

/** One data route. */
export interface Lookup<O extends LookupName> {
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

/** How the question of each operation is read out of path and query. */
const questionReaders: { readonly [O in LookupName]: (reader: QuestionReader) => Questions[O] } = {
  search: (reader) => ({ q: reader.searchText("q"), limit: reader.limit() }),
  ip: (reader) => ({ ip: reader.ip() }),
  routing(reader) {
    const ip = reader.ip();
    const include = reader.choices("include", ["more_specifics", "upstreams"]);
    return {
      ip,
      moreSpecifics: include.has("more_specifics"),
      upstreams: include.has("upstreams"),
      limit: reader.limit(),
    };
  },
  asn(reader) {
    const asn = reader.pathAsn();
    return {
      asn,
      family: readFamily(reader),
      rpki: reader.choice("rpki", rpkiStates),
      aggregate: reader.flag("aggregate", false),
      limit: reader.limit(),
    };
  },
  prefix: (reader) => ({ prefix: reader.pathPrefix(), limit: reader.limit() }),
  reverse_dns: (reader) => ({ ip: reader.ip() }),
  asn_changes: (reader) => ({ asn: reader.pathChanged(), limit: reader.limit() }),
  prefix_changes: (reader) => ({ prefix: reader.pathPrefix(), limit: reader.limit() }),
  validity: (reader) => ({ asn: reader.queryAsn("asn"), prefix: reader.queryPrefix("prefix") }),
  asn_vrps(reader) {
    const asn = reader.pathAsn();
    const family = readFamily(reader);
    return { asn, family, announced: reader.either("announced"), loose: reader.either("loose"), limit: reader.limit() };
  },
};

/** Null: both. */
function readFamily(reader: QuestionReader): 4 | 6 | null {
  const family = reader.choice("family", ["4", "6"]);
  return family === null ? null : family === "4" ? 4 : 6;
}

function lookup<O extends LookupName>(op: O): Lookup<O> {
  const { listView, lists } = operations[op];
  const { path, otherPaths = [] }: LookupDescription["route"] = operations[op].lookup.route;
  const parameters = dataRoutes.find((route) => route.op === op)?.parameters ?? [];
  return {
    op,
    urls: [path, ...otherPaths].map((each) => each.replace("/api/v1", "").replaceAll(/\{(\w+)\}/g, ":$1")),
    parameters: parameters.filter((parameter) => parameter.in === "query").map(({ name }) => name),
    formats: listView === null ? ["json"] : formats,
    pages: lists.length > 0,
    read: questionReaders[op],
  };
}

/** Every data route that needs a key. */
export const lookups: readonly Lookup<LookupName>[] = lookupNames.map(lookup);
