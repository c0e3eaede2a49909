/** The data routes: what each takes and answers. The gateway takes its paths and parameters from here, so that it can have no others. */

import Type from "typebox";
import type { ProblemCode } from "../errors.ts";
import { examples } from "../examples/index.ts";
import { formats, mediaTypes } from "../formats.ts";
import { type OperationName, operations } from "../operations.ts";
import { RelatedPrefix } from "../parts/routing.ts";
import { rpkiStates } from "../parts/rpki.ts";
import { listLimitDefault, listLimitMax } from "../questions.ts";
import { AsnPrefix } from "../records/asn.ts";
import { AddressText, AsnNotation, oneOf, PrefixText, wordsOf } from "../schema.ts";
import { someMembers } from "../some-members.ts";
import { membersOf } from "../view.ts";
import { lines, type RouteAnswer, type RouteContent, type RouteDescription, type RouteParameter } from "./route.ts";

const tag = "Data";

/** What any question to a service can come to. */
const upstream: readonly ProblemCode[] = ["precondition_failed", "data_not_ready", "upstream_error", "upstream_timeout"];

/** Headers of a 200 and of a 304, besides those of every answer. */
const answerHeaders = ["etag", "last-modified", "cache-control", "vary", "server-timing"];

const ip: RouteParameter = {
  name: "ip",
  in: "path",
  description: "An IPv4 or IPv6 address, without port, zone id or brackets.",
  schema: AddressText,
  examples: ["193.0.6.139", "2001:67c:2e8::1"],
};

const asn: RouteParameter = {
  name: "asn",
  in: "path",
  description: "An AS number: `AS3333`, `as3333`, `3333` or asdot (`1.10`).",
  schema: AsnNotation,
  examples: ["AS3333", "1.10"],
};

const network: RouteParameter = {
  name: "network",
  in: "path",
  description: "The first address of the prefix: no bit beyond its length is set.",
  schema: AddressText,
  examples: ["193.0.0.0", "2001:67c:2e8::"],
};

const length: RouteParameter = {
  name: "length",
  in: "path",
  description: "The prefix length: 0 to 32 for IPv4, 0 to 128 for IPv6.",
  schema: Type.Integer({ minimum: 0, maximum: 128 }),
  examples: ["21", "48"],
};

const limit: RouteParameter = {
  name: "limit",
  in: "query",
  description: "Items of each list.",
  schema: Type.Integer({ minimum: 1, maximum: listLimitMax, default: listLimitDefault }),
  examples: ["100", "1000"],
};

const cursor: RouteParameter = {
  name: "cursor",
  in: "query",
  description:
    "Where a list goes on: its `next_cursor`, with the same question. Bound to the version of the data, so that pages fit together; when that is gone, 410 `cursor_expired`. `limit` and `format` may change from page to page. Empty: the first page.",
  schema: Type.String({ pattern: "^[A-Za-z0-9_-]{0,64}$" }),
  examples: [""],
};

/** The parameters of every data route: which members, and in which format. */
function shape(op: OperationName, lists: boolean): RouteParameter[] {
  const members = membersOf(op);
  return [
    {
      name: "fields",
      in: "query",
      description: `Top-level members to keep, separated by commas, each once; \`meta\` always stands. Any of ${members.map((name) => `\`${name}\``).join(", ")}.`,
      schema: wordsOf(members),
      examples: [members.slice(0, 2).join(",")],
    },
    {
      name: "format",
      in: "query",
      description: lists
        ? "The format, whatever `Accept` says; those besides `json` show the list alone."
        : "The format, whatever `Accept` says.",
      schema: oneOf(lists ? formats : ["json"]),
      examples: ["json"],
    },
  ];
}

function answers(description: string, json: RouteContent, lists: readonly RouteContent[] = []): [RouteAnswer, RouteAnswer] {
  return [
    { status: 200, description, headers: lists.length === 0 ? answerHeaders : [...answerHeaders, "link"], content: [json, ...lists] },
    {
      status: 304,
      description: "What `If-None-Match` or `If-Modified-Since` names is still so. Costs no month.",
      headers: answerHeaders,
      content: [],
    },
  ];
}

function json(op: Exclude<OperationName, "status">): RouteContent {
  return { type: mediaTypes.json, schema: Type.Union([operations[op].record, someMembers(op)]), example: examples[op] };
}

interface DataRoute extends RouteDescription {
  readonly op: Exclude<OperationName, "status">;
}

/** In the order of the reference page. */
export const dataRoutes: readonly DataRoute[] = [
  {
    op: "ip",
    method: "get",
    path: "/api/v1/ip/{ip}",
    id: "getIp",
    tag,
    summary: "An address",
    description:
      "Everything known of one address: who was allocated it and where, who announces it and who sees that, what RPKI says of it in one word, what kind of network it is, and where it was observed.",
    scope: "ip",
    parameters: [ip, ...shape("ip", false)],
    answers: answers("The record.", json("ip")),
    problems: ["invalid_ip", ...upstream],
  },
  {
    op: "routing",
    method: "get",
    path: "/api/v1/routing/{ip}",
    id: "getRouting",
    tag,
    summary: "The route of an address",
    description:
      "The longest announced prefix of an address with every origin: how many peers see it, since when, and what RPKI origin validation says of it, with the VRPs that decide.",
    scope: "routing",
    parameters: [
      ip,
      {
        name: "include",
        in: "query",
        description: "Optional parts, separated by commas, each once: `more_specifics`, `upstreams`.",
        schema: wordsOf(["more_specifics", "upstreams"]),
        examples: ["more_specifics,upstreams", "upstreams"],
      },
      limit,
      ...shape("routing", false),
    ],
    answers: answers("The record.", json("routing")),
    problems: ["invalid_ip", ...upstream],
  },
  {
    op: "asn",
    method: "get",
    path: "/api/v1/asn/{asn}",
    id: "getAsn",
    tag,
    summary: "An AS",
    description:
      "The profile of an autonomous system: registration, what it announces, how much of that RPKI covers, its ASPA, neighbours in observed paths. `prefixes` and `allocations` page by their `next_cursor`. NDJSON, CSV and plain text (one prefix a line) show `prefixes` alone; the next page is then in the `Link` header.",
    scope: "asn",
    parameters: [
      asn,
      {
        name: "family",
        in: "query",
        description: "`prefixes` of one IP version only.",
        schema: oneOf(["4", "6"]),
        examples: ["4", "6"],
      },
      {
        name: "rpki",
        in: "query",
        description: "`prefixes` of one RPKI state only.",
        schema: oneOf(rpkiStates),
        examples: ["valid", "invalid", "not-found"],
      },
      {
        name: "aggregate",
        in: "query",
        description: "`true`: `prefixes` are merged, without ever adding unannounced space.",
        schema: oneOf(["true", "false"]),
        examples: ["true", "false"],
      },
      limit,
      cursor,
      ...shape("asn", true),
    ],
    answers: answers("The record, or a page of its prefixes.", json("asn"), [
      lines(AsnPrefix, examples.asn.prefixes.items[0]),
      { type: mediaTypes.csv, schema: null, example: "prefix,visibility_ratio,rpki_state,is_moas\r\n193.0.0.0/21,0.992,valid,false\r\n" },
      { type: mediaTypes.text, schema: null, example: "193.0.0.0/21\n" },
    ]),
    problems: ["invalid_asn", "invalid_cursor", "cursor_expired", ...upstream],
  },
  {
    op: "prefix",
    method: "get",
    path: "/api/v1/prefix/{network}/{length}",
    id: "getPrefix",
    tag,
    summary: "A prefix",
    description:
      "A prefix as it is announced, or the longest announced one that covers it (`match.type`): its origins, the VRPs that cover it, what lies around and inside, and how it lies in registered space. `more_specifics` pages by its `next_cursor`. NDJSON, CSV and plain text (one prefix a line) show `more_specifics` alone; the next page is then in the `Link` header.",
    scope: "prefix",
    parameters: [network, length, limit, cursor, ...shape("prefix", true)],
    answers: answers("The record, or a page of the prefixes inside.", json("prefix"), [
      lines(RelatedPrefix, examples.routing.less_specifics[0]),
      { type: mediaTypes.csv, schema: null, example: "prefix,origins,rpki_state,visibility_ratio\r\n193.0.0.0/22,3333,valid,0.98\r\n" },
      { type: mediaTypes.text, schema: null, example: "193.0.0.0/22\n" },
    ]),
    problems: ["invalid_prefix", "prefix_has_host_bits", "invalid_cursor", "cursor_expired", ...upstream],
  },
  {
    op: "reverse_dns",
    method: "get",
    path: "/api/v1/reverse-dns/{ip}",
    id: "getReverseDns",
    tag,
    summary: "The names of an address",
    description:
      "PTR through the installation's own resolver: every name with its TTL, whether it leads back to the address, and the DNSSEC state. What DNS answers is an answer, failures too (`status`).",
    scope: "reverse_dns",
    parameters: [ip, ...shape("reverse_dns", false)],
    answers: answers("The record.", json("reverse_dns")),
    problems: ["invalid_ip", "precondition_failed", "resolver_unavailable", "upstream_error", "upstream_timeout"],
  },
  {
    op: "validity",
    method: "get",
    path: "/api/v1/validity",
    id: "getValidity",
    tag,
    summary: "RPKI origin validation of any pair",
    description: "RFC 6811 for any pair of AS and prefix, announced or not, with the VRPs that decide.",
    scope: "routing",
    parameters: [
      { ...asn, in: "query", required: true },
      {
        name: "prefix",
        in: "query",
        description: "A prefix in CIDR form.",
        schema: PrefixText,
        examples: ["193.0.0.0/21", "2001:67c:2e8::/48"],
        required: true,
      },
      ...shape("validity", false),
    ],
    answers: answers("The verdict.", json("validity")),
    problems: ["invalid_asn", "invalid_prefix", "prefix_has_host_bits", ...upstream],
  },
];
