/** Settings of uploaded observations. They are apart from the reading of the environment, because the one-process form has them too. */

import Type, { type Static } from "typebox";
import type { ReceiveBounds } from "./receive.ts";

export const observationsConfigSchema = Type.Object({
  OBSERVATIONS_ROWS_MAX: Type.Integer({
    default: 20_000_000,
    minimum: 1,
    maximum: 200_000_000,
    description: "Maximum number of uploaded observations that are stored; above it the oldest are deleted",
  }),
  OBSERVATIONS_INTERVAL_SECONDS: Type.Integer({
    default: 60,
    minimum: 1,
    maximum: 86_400,
    description: "Minimum time between two runs that bring uploads and deletions of observations into the answers, in seconds",
  }),
  OBSERVATIONS_UPLOADS_MAX: Type.Integer({
    default: 4,
    minimum: 1,
    maximum: 32,
    description: "Maximum number of uploads of observations that a process receives at the same time; further ones get 429",
  }),
  OBSERVATIONS_UPLOAD_BYTES_MAX: Type.Integer({
    default: 17_179_869_184,
    minimum: 1_024,
    description: "Maximum size of one uploaded file in bytes; a larger one gets 413",
  }),
  OBSERVATIONS_UPLOAD_SECONDS_MAX: Type.Integer({
    default: 3_600,
    minimum: 1,
    maximum: 86_400,
    description: "Maximum duration of one request of an upload in seconds; then it gets 408, and can be resumed",
  }),
});

export type ObservationsConfig = Static<typeof observationsConfigSchema>;

export function uploadBounds(config: ObservationsConfig): ReceiveBounds & { readonly uploadsMax: number } {
  return {
    bytesMax: config.OBSERVATIONS_UPLOAD_BYTES_MAX,
    secondsMax: config.OBSERVATIONS_UPLOAD_SECONDS_MAX,
    rowsMax: config.OBSERVATIONS_ROWS_MAX,
    uploadsMax: config.OBSERVATIONS_UPLOADS_MAX,
  };
}
