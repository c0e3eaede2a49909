/** The routes that the gateway itself answers to operators: keys, plans, profiles, the audit, usage. */

import { auditRoutes } from "./audit.ts";
import { keyRoutes } from "./keys.ts";
import { planRoutes } from "./plans.ts";
import { profileRoutes } from "./profiles.ts";
import type { RouteDescription } from "./route.ts";
import { usageRoutes } from "./usage.ts";

export const adminRoutes: readonly RouteDescription[] = [...keyRoutes, ...planRoutes, ...profileRoutes, ...auditRoutes, ...usageRoutes];
