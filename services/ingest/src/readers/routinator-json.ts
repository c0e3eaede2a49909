/**
 * Readers of Routinator's `json` and `jsonext`: `{"metadata": {"generated": …}, "roas": [{asn: "AS1", prefix, maxLength, …}, …], "aspas": [{customer:
 * "AS1", providers: ["AS2", …], …}, …], …}`. `json` has the trust anchor of each record, but no expiry. `jsonext` has the objects that each record
 * comes from, with both. A file of one form is refused as the other: read as `json`, the expiry times of `jsonext` would be lost.
 */

import { isMembers } from "./json-items.ts";
import type { SourceContent } from "./reader-report.ts";
import { readVrpExport, type VrpExport, type VrpExportForm } from "./vrp-export.ts";
import { isWhole, secondsOfTime } from "./vrp-fields.ts";

type Members = Readonly<Record<string, unknown>>;

/** `generated` is Unix seconds, `generatedTime` the same as text; releases before 0.9 had neither. */
function asOf(metadata: Members | null): number | null | string {
  if (metadata === null) return null;
  const { generated, generatedTime } = metadata;
  if (generated === undefined && generatedTime === undefined) return null;
  const seconds = generated === undefined ? secondsOfTime(generatedTime) : isWhole(generated, 0xffff_ffff) ? generated : null;
  return seconds ?? '"metadata" has no valid generation time';
}

const json: VrpExportForm = {
  what: "Routinator's json",
  fields: ["asn", "prefix", "maxLength", "ta", "customer", "providers", "generated", "generatedTime"],
  foreign: {
    metadata: { buildtime: "rpki-client-json" },
    roas: { expires: "rpki-client-json", source: "routinator-jsonext" },
    aspas: { customer_asid: "rpki-client-json", expires: "rpki-client-json", source: "routinator-jsonext" },
  },
  asOf,
  claimed: () => ({ vrps: null, aspas: null }),
  vrp: ({ asn, prefix, maxLength, ta }) => ({ asn, prefix, maxLength, ta: anchor(ta), expires: null }),
  aspa: ({ customer, providers, ta }) => ({ customer, providers, ta: anchor(ta), expires: null }),
};

const jsonExt: VrpExportForm = {
  what: "Routinator's jsonext",
  fields: [...json.fields, "source", "tal", "chainValidity", "notAfter"],
  foreign: {
    metadata: { buildtime: "rpki-client-json" },
    roas: { expires: "rpki-client-json", ta: "routinator-json" },
    aspas: { customer_asid: "rpki-client-json", expires: "rpki-client-json", ta: "routinator-json" },
  },
  asOf,
  claimed: () => ({ vrps: null, aspas: null }),
  vrp({ asn, prefix, maxLength, source }) {
    const origin = latestSource(source);
    return typeof origin === "string" ? origin : { asn, prefix, maxLength, ...origin };
  },
  aspa({ customer, providers, source }) {
    const origin = latestSource(source);
    return typeof origin === "string" ? origin : { customer, providers, ...origin };
  },
};

/**
 * The expiry of a record is the latest `notAfter` of its sources' chains; its trust anchor is that of the same source. A source that is a local
 * exception (SLURM) has neither. Returns text to say what is wrong.
 */
function latestSource(sources: unknown): { ta: unknown; expires: number | null } | string {
  if (sources === undefined) return { ta: null, expires: null };
  if (!Array.isArray(sources)) return "source is not a list";
  let latest: { ta: unknown; expires: number | null } = { ta: null, expires: null };
  for (const source of sources) {
    if (!isMembers(source)) return "source is not a list of objects";
    const { tal, chainValidity } = source;
    if (chainValidity === undefined) continue;
    const notAfter = isMembers(chainValidity) ? secondsOfTime(chainValidity.notAfter) : null;
    if (notAfter === null) return "chainValidity has no notAfter such as 2026-01-05T09:31:33Z";
    if (latest.expires === null || notAfter > latest.expires) latest = { ta: anchor(tal), expires: notAfter };
  }
  return latest;
}

/** Routinator writes `N/A` for records without a trust anchor. */
function anchor(name: unknown): unknown {
  return name === "N/A" ? null : name;
}

/** Reads `json`; as `readVrpExport`. */
export function readRoutinatorJson(content: SourceContent): Promise<VrpExport> {
  return readVrpExport(content, json);
}

/** Reads `jsonext`; as `readVrpExport`. */
export function readRoutinatorJsonExt(content: SourceContent): Promise<VrpExport> {
  return readVrpExport(content, jsonExt);
}
