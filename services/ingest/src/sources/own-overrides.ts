/** Makes sources of the operator's overrides in the control store. They come after all sources of `sources.yaml`, so that they win. */

import { existsSync } from "node:fs";
import type { SourceConfig, SourcesConfig } from "./config.ts";
import { defaultClockSkewMaxSeconds, defaultSecondsMax } from "./defaults.ts";

/** Sections that overrides have data for. No listed source can have a name with a colon. */
const sections = ["as_names", "profiles"] as const;

const bytesMax = 64 * 2 ** 20;

/** @param file  file of the overrides; if it is null or absent, the list stays as it is */
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
