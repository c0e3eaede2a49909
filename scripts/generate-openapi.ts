/** Writes the OpenAPI documents to docs/api, as the gateways serve them. */

import { operatorDocument, publicDocument } from "@netfacts/contracts/openapi";
import type { Generated } from "./generated.ts";

const file = (path: string, document: () => object): Generated => ({ path, content: () => `${JSON.stringify(document(), null, 1)}\n` });

export const documents: readonly Generated[] = [
  file("docs/api/openapi.json", publicDocument),
  file("docs/api/openapi-operator.json", operatorDocument),
];
