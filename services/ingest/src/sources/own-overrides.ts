/** The operator's overrides of the control store as sources: behind all that `sources.yaml` lists, so that they win. */

import { existsSync } from "node:fs";
import type { SourceConfig, SourcesConfig } from "./config.ts";
import { defaultClockSkewMaxSeconds, defaultSecondsMax } from "./defaults.ts";

/** Sections that they say something of. No source of a list can have a name with a colon. */
const sections = ["as_names", "profiles"] as const;

const bytesMax = 64 * 2 ** 20;

/** @param file  null, or a file that need not be there: then the list stays as it is. */
export function withOverrides(config: SourcesConfig, file: string | null): SourcesConfig {
  if (file === null || !existsSync(file)) return config;
  const own = sections.map(
    (section): SourceConfig => ({
      name: `overrides:${section}`,
      section,
      format: "overrides-csv",
      location: file,
      required: true,
      intervalSeconds: 60,
      bytesMax,
      secondsMax: defaultSecondsMax,
      shrinkMax: 1,
      badRecordsMax: 0.01,
      kindShrinkMax: 1,
      countErrorMax: null,
      covers: null,
      rangeType: null,
      isFollowed: true,
      staleAfterSeconds: null,
      asOf: null,
      clockSkewMaxSeconds: defaultClockSkewMaxSeconds,
      futureDates: "refuse",
      line: 0,
    }),
  );
  return { ...config, sources: [...config.sources, ...own] };
}
