/** The data routes: where each question stands in URLs, and how it is read. Everything else is the same for all (`lookup-route.ts`). */

import { type OperationName, type Questions, rpkiStates } from "@netfacts/contracts";
import type { QuestionReader } from "./question-reader.ts";

/** One data route. */
export interface Lookup<O extends OperationName> {
  readonly op: O;
  /** Patterns below `/api/v1`. */
  readonly urls: readonly string[];
  /** Query parameters that the route takes. */
  readonly parameters: readonly string[];
  read(reader: QuestionReader): Questions[O];
}

const ip: Lookup<"ip"> = {
  op: "ip",
  urls: ["/ip/:ip"],
  parameters: [],
  read: (reader) => ({ ip: reader.ip() }),
};

const routing: Lookup<"routing"> = {
  op: "routing",
  urls: ["/routing/:ip"],
  parameters: ["include", "limit"],
  read(reader) {
    const ip = reader.ip();
    const include = reader.choices("include", ["more_specifics", "upstreams"]);
    return {
      ip,
      moreSpecifics: include.has("more_specifics"),
      upstreams: include.has("upstreams"),
      limit: reader.limit(),
    };
  },
};

const asn: Lookup<"asn"> = {
  op: "asn",
  urls: ["/asn/:asn"],
  parameters: ["family", "rpki", "aggregate", "limit"],
  read(reader) {
    const asn = reader.pathAsn();
    const family = reader.choice("family", ["4", "6"]);
    return {
      asn,
      family: family === null ? null : family === "4" ? 4 : 6,
      rpki: reader.choice("rpki", rpkiStates),
      aggregate: reader.choice("aggregate", ["true", "false"]) === "true",
      limit: reader.limit(),
    };
  },
};

const prefix: Lookup<"prefix"> = {
  op: "prefix",
  // The second form takes a prefix whose slash is percent-encoded.
  urls: ["/prefix/:network/:length", "/prefix/:network"],
  parameters: ["limit"],
  read: (reader) => ({ prefix: reader.pathPrefix(), limit: reader.limit() }),
};

const reverseDns: Lookup<"reverse_dns"> = {
  op: "reverse_dns",
  urls: ["/reverse-dns/:ip"],
  parameters: [],
  read: (reader) => ({ ip: reader.ip() }),
};

const validity: Lookup<"validity"> = {
  op: "validity",
  urls: ["/validity"],
  parameters: ["asn", "prefix"],
  read: (reader) => ({ asn: reader.queryAsn("asn"), prefix: reader.queryPrefix("prefix") }),
};

/** Every data route that needs a key. */
export const lookups: readonly Lookup<OperationName>[] = [ip, routing, asn, prefix, reverseDns, validity];
