/** Every command, in the order of `--help`: one line each. Loaded when used, as some bring half of the house with them. */

import type { RegisterCommand } from "../context.ts";

export const commands: Readonly<Record<string, () => Promise<RegisterCommand>>> = {
  lookup: async () => (await import("./lookup.ts")).lookup,
  dump: async () => (await import("./dump.ts")).dump,
  snapshot: async () => (await import("./snapshot/index.ts")).snapshot,
  mrt: async () => (await import("./mrt/index.ts")).mrt,
  ingest: async () => (await import("./ingest.ts")).ingest,
  keys: async () => (await import("./keys/index.ts")).keys,
};
