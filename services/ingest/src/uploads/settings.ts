/** The current settings of observations in `sources.yaml`, for retention and exports. */

import { defaultObservationHalfLifeSeconds, defaultObservationsKeptSeconds } from "../sources/defaults.ts";
import { readSources, SourcesFileError } from "../sources/index.ts";

export interface ObservationSettings {
  readonly keptSeconds: number;
  readonly halfLifeSeconds: number;
}

/**
 * @param sources  path of the sources.yaml; empty: there is none, and the defaults count. If the file has faults, observations are kept for any time
 */
export async function observationSettings(sources: string): Promise<ObservationSettings> {
  const defaults = { keptSeconds: defaultObservationsKeptSeconds, halfLifeSeconds: defaultObservationHalfLifeSeconds };
  if (sources === "") return defaults;
  try {
    const { observationsKeptSeconds, observationHalfLifeSeconds } = await readSources(sources, { files: "later" });
    return { keptSeconds: observationsKeptSeconds, halfLifeSeconds: observationHalfLifeSeconds };
  } catch (error) {
    // A fault in the list must not delete observations that the list would keep.
    if (error instanceof SourcesFileError) return { ...defaults, keptSeconds: Number.MAX_SAFE_INTEGER };
    throw error;
  }
}
