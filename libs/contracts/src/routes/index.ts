/** Every route of the API, by listener, in the order of the reference page. */

import { aboutRoutes } from "./about.ts";
import { adminRoutes } from "./admin.ts";
import { batchRoutes } from "./batch.ts";
import { dataRoutes } from "./data.ts";
import { ingestRoutes } from "./ingest.ts";
import type { RouteDescription } from "./route.ts";

/** On the public listener. */
export const publicRoutes: readonly RouteDescription[] = [...dataRoutes, ...batchRoutes, ...aboutRoutes];

/** On the operator listener. */
export const operatorRoutes: readonly RouteDescription[] = [...adminRoutes, ...ingestRoutes];
