/** The operators' API as OpenAPI 3.1: what `/admin/v1/openapi.json` serves. */

import { operatorRoutes } from "../routes/index.ts";
import { openApiDocument } from "./document.ts";

export const operatorDocument = () =>
  openApiDocument(
    {
      title: "Netfacts operator API",
      description:
        "Management of keys, plans, usage, the audit log and ingest. Served on a separate listener, and only for keys with the scope `admin`.",
      version: "1.0.0",
      tags: {
        Keys: "Create, change, rotate and revoke API keys. The secret of a key is returned only once, when the key is created.",
        Plans: "Named sets of limits that keys refer to.",
        Usage: "Usage of keys, by day and kind of request.",
        Audit: "Changes made by operators: who made them, when, and from where.",
        Ingest: "Ingest runs, their reports, and the health of the sources.",
      },
    },
    operatorRoutes,
  );
