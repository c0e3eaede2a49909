/** The public API as OpenAPI 3.1: what `/openapi.json` serves. */

import { publicRoutes } from "../routes/index.ts";
import { version } from "../version.ts";
import { openApiDocument } from "./document.ts";

export const publicDocument = () =>
  openApiDocument(
    {
      title: "Netfacts",
      description: `Facts about internet addresses and networks: who holds them, who announces them, how widely the announcement is visible, whether it is
RPKI-valid and why, what is known about each AS, and what reverse DNS returns. The data come from sources that the operator of this installation has configured.

Every well-formed request returns status 200, even for reserved, unallocated or unannounced resources. \`null\` means "not known"; an absent member was not requested.
Every error is a problem document (RFC 9457) with a stable \`code\`. Send the key as \`Authorization: Bearer <key>\`.`,
      version,
      tags: {
        Data: "Records of addresses, prefixes and AS numbers.",
        About: "The calling key, and the status of the data.",
      },
    },
    publicRoutes,
  );
