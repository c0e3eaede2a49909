/** Examples of the records of uploaded observations. */

import type {
  ObservationsDeleted,
  ObservationUpload,
  ObservationUploads,
  StoredObservation,
  UploadedObservation,
} from "../records/observations.ts";

export const uploadExample: ObservationUpload = {
  upload: "probes-20261124",
  format: "ndjson",
  source: "probes",
  key_id: "7Q9M3W8K",
  created_at: "2026-11-24T09:00:00Z",
  updated_at: "2026-11-24T09:00:41Z",
  complete: true,
  offset: 164_900_211,
  lines: 1_000_000,
  rows: 999_999,
  bad: 1,
  bad_lines: [{ line: 1_731, reason: "observed_at is in the future" }],
};

export const uploadsExample: ObservationUploads = { items: [uploadExample] };

export const storedObservationExample: StoredObservation = {
  prefix: "193.0.6.139/32",
  basis: "observation",
  lat: 52.37,
  lon: 4.9,
  accuracy_km: 10,
  country: "NL",
  region: "NL-NH",
  city: "Amsterdam",
  observed_at: "2026-11-20T22:14:05Z",
  method: "probe",
  source: "probes",
  key_id: "7Q9M3W8K",
  upload: "probes-20261124",
  line: 1,
  outlier: false,
};

export const observationLineExample: UploadedObservation = {
  ip: "193.0.6.139",
  lat: 52.37,
  lon: 4.9,
  accuracy_km: 10,
  country: "NL",
  observed_at: "2026-11-20T22:14:05Z",
  method: "probe",
};

export const observationsDeletedExample: ObservationsDeleted = { deleted: 12, complete: true };
