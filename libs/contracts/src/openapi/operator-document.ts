/** The operators' API as OpenAPI 3.1: what `/admin/v1/openapi.json` serves. */

import { adminRoutes } from "../routes/admin.ts";
import { operatorRoutes } from "../routes/index.ts";
import { version } from "../version.ts";
import { openApiDocument } from "./document.ts";

/** @param ingest  whether the listener forwards requests to an ingest service; if not, the routes of ingest are absent. */
export const operatorDocument = ({ ingest }: { readonly ingest: boolean } = { ingest: true }) =>
  openApiDocument(
    {
      title: "Netfacts operator API",
      description:
        "Management of keys, plans, AS profiles, usage, the audit log and, where it is a service, ingest. Served on a separate listener, and only for keys with the scope `admin`.",
      version,
      tags: {
        Keys: "Create, change, rotate and revoke API keys. The secret of a key is returned only once, when the key is created.",
        Plans: "Named sets of limits that keys refer to.",
        Profiles: "Names, organisations, websites and network types of ASes that operators correct.",
        Usage: "Usage of keys, by day and kind of request.",
        Audit: "Changes made by operators: who made them, when, and from where.",
        ...(ingest && {
          Ingest: "Ingest runs, their reports, and the health of the sources.",
          Observations: "Upload, export and deletion of observations of where addresses are.",
        }),
      },
    },
    ingest ? operatorRoutes : adminRoutes,
  );
