/** Every command, in the order of `--help`, one line each. A command is loaded when it is used, because some load many modules. */

import type { RegisterCommand } from "../context.ts";

export const commands: Readonly<Record<string, () => Promise<RegisterCommand>>> = {
  lookup: async () => (await import("./lookup.ts")).lookup,
  search: async () => (await import("./search.ts")).search,
  changes: async () => (await import("./changes.ts")).changes,
  dump: async () => (await import("./dump.ts")).dump,
  export: async () => (await import("./export.ts")).exportCommand,
  snapshot: async () => (await import("./snapshot/index.ts")).snapshot,
  mrt: async () => (await import("./mrt/index.ts")).mrt,
  ingest: async () => (await import("./ingest.ts")).ingest,
  observations: async () => (await import("./observations/index.ts")).observations,
  keys: async () => (await import("./keys/index.ts")).keys,
  plans: async () => (await import("./plans.ts")).plans,
  profiles: async () => (await import("./profiles.ts")).profiles,
  audit: async () => (await import("./audit.ts")).audit,
  usage: async () => (await import("./usage.ts")).usage,
  backup: async () => (await import("./backup.ts")).backup,
  restore: async () => (await import("./backup.ts")).restore,
};
