/** The operators' API as OpenAPI 3.1: what `/admin/v1/openapi.json` serves. */

import { operatorRoutes } from "../routes/index.ts";
import { openApiDocument } from "./document.ts";

export const operatorDocument = () =>
  openApiDocument(
    {
      title: "Netfacts, for operators",
      description: "Keys, plans, usage, the audit log and ingest. Served on a listener of its own, to keys with the scope `admin` only.",
      version: "1.0.0",
      tags: {
        Keys: "Made, changed, replaced and ended. The secret of a key is in the answer that makes it, and nowhere else.",
        Plans: "Named limits that keys refer to.",
        Usage: "What keys were used for, by day and kind of question.",
        Audit: "Who changed what, when and from where.",
        Ingest: "Runs, their reports, and the health of the sources.",
      },
    },
    operatorRoutes,
  );
