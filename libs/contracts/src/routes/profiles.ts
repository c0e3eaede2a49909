/** The operators' routes of AS profiles. */

import Type, { type TSchema } from "typebox";
import { examples } from "../examples/index.ts";
import { AsProfile, AsProfiles, ProfileFields, profileFieldNames } from "../records/profiles.ts";
import { AsnNotation, oneOf } from "../schema.ts";
import type { RouteDescription, RouteParameter } from "./route.ts";

export const profilesPath = "/admin/v1/profiles";

const tag = "Profiles";
const json = (schema: TSchema, example: unknown) => [{ type: "application/json", schema, example }] as const;

const asn: RouteParameter = {
  name: "asn",
  in: "path",
  description: "AS number, as `AS64500`, `64500` or asdot.",
  schema: AsnNotation,
  examples: ["AS64500"],
};

/** Under `/admin/v1/profiles`. */
export const profileRoutes: readonly RouteDescription[] = [
  {
    method: "get",
    path: profilesPath,
    id: "listProfiles",
    tag,
    summary: "Profiles",
    description:
      "ASes that a source or an override describes, by AS number, with the source of each field. Sources are shown as the last import of their section " +
      "read them. AS numbers that nobody holds are listed only if a list or an override names them.",
    scope: "admin",
    parameters: [
      {
        name: "limit",
        in: "query",
        description: "Maximum number of profiles, 1 to 1,000.",
        schema: Type.Integer({ minimum: 1, maximum: 1_000, default: 100 }),
        examples: ["100"],
      },
      {
        name: "cursor",
        in: "query",
        description: "`next_cursor` of the previous page.",
        schema: Type.String({ minLength: 1 }),
        examples: [examples.profiles.next_cursor ?? ""],
      },
      {
        name: "q",
        in: "query",
        description:
          "Only profiles that contain this text, in any case: in the AS number (`AS64500`), in a value, in the name of a source, or in who made the last change.",
        schema: Type.String({ minLength: 1, maxLength: 256 }),
        examples: ["example"],
      },
      {
        name: "source",
        in: "query",
        description:
          "Only profiles that this source says something of, even if another statement counts: a name in `sources.yaml`, or `override`.",
        schema: Type.String({ minLength: 1, maxLength: 64 }),
        examples: ["override"],
      },
      {
        name: "field",
        in: "query",
        description: "Only profiles that have this field. With `source`: that the source says something of it.",
        schema: oneOf(profileFieldNames),
        examples: ["name"],
      },
    ],
    answers: [{ status: 200, description: "The profiles.", content: json(AsProfiles, examples.profiles) }],
    problems: ["invalid_cursor"],
  },
  {
    method: "get",
    path: `${profilesPath}/{asn}`,
    id: "getProfile",
    tag,
    summary: "Profile of one AS",
    description:
      "Each field with its source, and what the other sources say: what an override replaces. `links.audit` has all changes of the override; " +
      "it keeps them after the override was deleted.",
    scope: "admin",
    parameters: [asn],
    answers: [{ status: 200, description: "The profile.", content: json(AsProfile, examples.profile) }],
    problems: ["invalid_asn", "profile_not_found"],
  },
  {
    method: "put",
    path: `${profilesPath}/{asn}`,
    id: "putProfile",
    tag,
    summary: "Override the profile of an AS",
    description:
      "Replaces the override of the AS. Fields that are absent stay as the sources have them. Ingest publishes the change: answers show it in about two " +
      "seconds, if no other run is in progress. An installation has at most 10,000 overrides.",
    scope: "admin",
    parameters: [asn],
    body: { description: "The fields to override.", content: json(ProfileFields, examples.profile_fields) },
    answers: [
      { status: 200, description: "The profile after the change.", content: json(AsProfile, examples.profile) },
      { status: 201, description: "The profile with its new override.", headers: ["location"], content: json(AsProfile, examples.profile) },
    ],
    problems: ["invalid_asn", "invalid_body", "payload_too_large", "unsupported_media_type", "precondition_failed"],
  },
  {
    method: "delete",
    path: `${profilesPath}/{asn}`,
    id: "deleteProfile",
    tag,
    summary: "Delete the override of an AS",
    description: "The profile is again what the sources say. Answers show it as soon as ingest has published the change.",
    scope: "admin",
    parameters: [asn],
    answers: [{ status: 204, description: "The override was deleted.", content: [] }],
    problems: ["invalid_asn", "profile_not_found", "precondition_failed"],
  },
];
