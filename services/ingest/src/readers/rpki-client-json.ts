/** Reader of rpki-client's JSON export: `{"metadata": {…}, "roas": [{asn, prefix, maxLength, ta, expires}, …], "aspas": […], …}`. */

import type { SourceContent } from "./reader-report.ts";
import { readVrpExport, type VrpExport, type VrpExportForm } from "./vrp-export.ts";
import { isWhole, secondsOfTime } from "./vrp-fields.ts";

const routinator = "routinator-json or routinator-jsonext";

const form: VrpExportForm = {
  what: "an rpki-client export",
  fields: ["asn", "prefix", "maxLength", "ta", "expires", "customer_asid", "providers", "buildtime", "uniquevrps", "uniquevaps"],
  foreign: {
    metadata: { generated: routinator, generatedTime: routinator },
    roas: { source: "routinator-jsonext" },
    aspas: { customer: routinator, source: "routinator-jsonext" },
  },
  asOf: (metadata) => secondsOfTime(metadata?.buildtime) ?? 'no "metadata" with a "buildtime" such as 2026-01-05T09:31:33Z',
  claimed: (metadata) => ({ vrps: countOf(metadata?.uniquevrps), aspas: countOf(metadata?.uniquevaps) }),
  vrp: ({ asn, prefix, maxLength, ta, expires }) => ({ asn, prefix, maxLength, ta, expires }),
  aspa: ({ customer_asid: customer, providers, ta, expires }) => ({ customer, providers, ta, expires }),
};

function countOf(value: unknown): number | null {
  return isWhole(value, 0xffff_ffff) ? value : null;
}

/** Reads one export, which must contain its build time; otherwise as `readVrpExport`. */
export function readRpkiClientJson(content: SourceContent): Promise<VrpExport> {
  return readVrpExport(content, form);
}
