/** The records of uploaded observations in ingest's operator API: uploads, the lines that are stored, and what a deletion removed. */

import Type, { type Static } from "typebox";
import type { FactsOf } from "../facts/fact.ts";
import { bytes } from "../facts/units.ts";
import { Count, member, NullableText, NullableTimestamp, nullable, oneOf, record, Timestamp } from "../schema.ts";

export const uploadFormats = ["ndjson", "csv", "geofeed"] as const;

export const ObservationUpload = record({
  upload: member(Type.String(), "Id of the upload, chosen by its sender or by the server."),
  format: member(oneOf(uploadFormats), "Format of the file."),
  source: member(Type.String(), "Name under which the observations count as one opinion."),
  key_id: member(NullableText, "Id of the key that began the upload; null for the command line."),
  created_at: member(Timestamp, "Time at which the upload began."),
  updated_at: member(Timestamp, "Time at which lines were last stored."),
  complete: member(Type.Boolean(), "Whether the end of the file was received."),
  offset: member(Count, "Number of bytes of the file that are stored, up to the end of a line. Resume from here."),
  lines: member(Count, "Number of lines in these bytes."),
  rows: member(Count, "Number of lines that were stored as observations. Retention and deletions do not reduce it."),
  bad: member(Count, "Number of lines that were not stored because they are invalid."),
  bad_lines: member(
    Type.Array(
      record({ line: member(Count, "Line number in the file, from 1."), reason: member(Type.String(), "Why the line is invalid.") }),
    ),
    "The first 100 invalid lines.",
  ),
});
export type ObservationUpload = Static<typeof ObservationUpload>;

export const ObservationUploads = record({ items: member(Type.Array(ObservationUpload), "Uploads, newest first.") });
export type ObservationUploads = Static<typeof ObservationUploads>;

/** One line of an upload of NDJSON. */
export const UploadedObservation = record({
  ip: Type.Optional(member(Type.String(), "Address that was observed. A line has either `ip` or `prefix`.")),
  prefix: Type.Optional(member(Type.String(), "Prefix that was observed.")),
  lat: Type.Optional(member(Type.Number(), "Latitude in degrees. A line has coordinates or a country.")),
  lon: Type.Optional(member(Type.Number(), "Longitude in degrees.")),
  accuracy_km: Type.Optional(member(Type.Number(), "Accuracy in km.")),
  country: Type.Optional(member(Type.String(), "Country code of ISO 3166-1.")),
  region: Type.Optional(member(Type.String(), "Region code of ISO 3166-2.")),
  city: Type.Optional(member(Type.String(), "Name of the city.")),
  observed_at: member(Timestamp, "Time of the observation."),
  method: Type.Optional(member(Type.String(), "How it was observed, in one word.")),
});
export type UploadedObservation = Static<typeof UploadedObservation>;

const NullableNumber = nullable(Type.Number());

/** One line of an export. */
export const StoredObservation = record({
  prefix: member(Type.String(), "Prefix that was observed. An address is a /32 or a /128."),
  basis: member(oneOf(["observation", "geofeed"]), "What the line is: an observation, or a geofeed's claim."),
  lat: member(NullableNumber, "Latitude in degrees; null if not given."),
  lon: member(NullableNumber, "Longitude in degrees; null if not given."),
  accuracy_km: member(NullableNumber, "Accuracy in km; null if not given."),
  country: member(NullableText, "Country code; null if not given."),
  region: member(NullableText, "Region code; null if not given."),
  city: member(NullableText, "City; null if not given."),
  observed_at: member(NullableTimestamp, "Time of the observation; null for a geofeed."),
  method: member(NullableText, "Method of the observation; null if not given."),
  source: member(Type.String(), "Source that the upload named."),
  key_id: member(NullableText, "Id of the key that began the upload; null for the command line."),
  upload: member(Type.String(), "Id of the upload."),
  line: member(Count, "Line number in the file that was uploaded."),
  outlier: member(
    nullable(Type.Boolean()),
    "Whether the observation is for another place than the one that the stored observations of this prefix agree on; null for a geofeed.",
  ),
});
export type StoredObservation = Static<typeof StoredObservation>;

export const ObservationsDeleted = record({
  deleted: member(Count, "Number of stored lines that this request deleted."),
  complete: member(Type.Boolean(), "False if there are more: repeat the request."),
});
export type ObservationsDeleted = Static<typeof ObservationsDeleted>;

const lines = "lines";

export const uploadFacts: FactsOf<ObservationUpload> = {
  upload: "request",
  format: "request",
  source: "request",
  key_id: "request",
  created_at: "upload",
  updated_at: "upload",
  complete: "upload",
  offset: { from: "upload", unit: bytes },
  lines: { from: "upload", unit: lines },
  rows: { from: "upload", unit: lines },
  bad: { from: "upload", unit: lines },
  bad_lines: { line: { from: "upload", unit: lines }, reason: "upload" },
};

export const uploadsFacts: FactsOf<ObservationUploads> = { items: uploadFacts };

export const storedObservationFacts: FactsOf<StoredObservation> = {
  prefix: "upload",
  basis: "upload",
  lat: { from: "upload", unit: "degrees" },
  lon: { from: "upload", unit: "degrees" },
  accuracy_km: { from: "upload", unit: "km" },
  country: "upload",
  region: "upload",
  city: "upload",
  observed_at: "upload",
  method: "upload",
  source: "upload",
  key_id: "upload",
  upload: "upload",
  line: { from: "upload", unit: lines },
  outlier: "observations",
};

export const observationsDeletedFacts: FactsOf<ObservationsDeleted> = {
  deleted: { from: "observations", unit: lines },
  complete: "observations",
};
