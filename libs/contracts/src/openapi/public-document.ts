/** The public API as OpenAPI 3.1: what `/openapi.json` serves. */

import { publicRoutes } from "../routes/index.ts";
import { openApiDocument } from "./document.ts";

export const publicDocument = () =>
  openApiDocument(
    {
      title: "Netfacts",
      description: `Facts about internet addresses and networks: who was allocated them, who announces them and who sees that, whether the announcement is RPKI-valid
and why, what an AS is, and what reverse DNS says; from data that this installation's operator holds.

Every well-formed question has an answer of status 200, also about what is reserved, unallocated or unannounced. \`null\` means "not known"; an absent member was not asked for.
Every refusal is a problem (RFC 9457) with a stable \`code\`. Send the key as \`Authorization: Bearer <key>\`.`,
      version: "1.0.0",
      tags: {
        Data: "Questions about addresses, prefixes and AS numbers.",
        About: "The calling key, and the data in service.",
      },
    },
    publicRoutes,
  );
