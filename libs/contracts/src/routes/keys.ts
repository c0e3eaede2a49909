/** The operators' routes of keys. */

import Type, { type TSchema } from "typebox";
import { examples } from "../examples/index.ts";
import { CreatedKey, KeyPatch, KeyRotation, ManagedKey, ManagedKeys, NewKey, RotatedKey } from "../records/keys.ts";
import type { RouteAnswer, RouteDescription, RouteParameter } from "./route.ts";

export const keysPath = "/admin/v1/keys";

const tag = "Keys";
const json = (schema: TSchema, example: unknown) => [{ type: "application/json", schema, example }] as const;
const key = (description: string): RouteAnswer => ({ status: 200, description, content: json(ManagedKey, examples.managed_key) });

const id: RouteParameter = {
  name: "id",
  in: "path",
  description: "Id of the key: the eight characters after `nf_live_`.",
  schema: Type.String({ pattern: "^[0-9A-HJKMNP-TV-Z]{8}$" }),
  examples: [examples.managed_key.id],
};
const force: RouteParameter = {
  name: "force",
  in: "query",
  description: "If `true`, allows the change even for the last active key with the scope `admin`.",
  schema: Type.Unsafe<"true" | "false">({ type: "string", enum: ["true", "false"], default: "false" }),
  examples: ["true"],
};
const idempotencyKey = (repeated: string): RouteParameter => ({
  name: "Idempotency-Key",
  in: "header",
  description: `Value chosen by the client, 1 to 255 printable characters. If the same request is repeated with the same value within 24 hours, ${repeated} A different request with the same value is rejected.`,
  schema: Type.String({ pattern: "^[!-~]{1,255}$" }),
  examples: ["8e03978e-40d5-43dd-bc93-6894a57f9324"],
});
const creatingOnce = idempotencyKey("nothing is created again: the response is 200 with the record and `secret` null.");
const changingOnce = idempotencyKey("nothing is changed again: the response is 200 with the key as it is now.");
const bodyProblems = ["invalid_body", "payload_too_large", "unsupported_media_type"] as const;
const again: Pick<RouteAnswer, "status" | "description"> = {
  status: 200,
  description: "Created earlier by the same request; without the secret.",
};

function stateRoute(action: "disable" | "enable" | "revoke", summary: string, description: string): RouteDescription {
  return {
    method: "post",
    path: `${keysPath}/{id}/${action}`,
    id: `${action}Key`,
    tag,
    summary,
    description,
    scope: "admin",
    parameters: action === "enable" ? [id, changingOnce] : [id, force, changingOnce],
    answers: [key("The key after the change.")],
    problems: [
      "key_not_found",
      "key_state_conflict",
      "idempotency_conflict",
      "precondition_failed",
      ...(action === "enable" ? [] : ["last_admin_key" as const]),
    ],
  };
}

/** Under `/admin/v1/keys`. */
export const keyRoutes: readonly RouteDescription[] = [
  {
    method: "get",
    path: keysPath,
    id: "listKeys",
    tag,
    summary: "Keys",
    description: "All keys without their secrets, oldest first.",
    scope: "admin",
    parameters: [
      {
        name: "limit",
        in: "query",
        description: "Maximum number of keys, 1 to 1,000.",
        schema: Type.Integer({ minimum: 1, maximum: 1_000, default: 100 }),
        examples: ["100"],
      },
      {
        name: "cursor",
        in: "query",
        description: "`next_cursor` of the previous page.",
        schema: Type.String({ minLength: 1 }),
        examples: [examples.managed_keys.next_cursor ?? ""],
      },
      { name: "plan", in: "query", description: "Only keys of this plan.", schema: Type.String({ minLength: 1 }), examples: ["team"] },
    ],
    answers: [{ status: 200, description: "The keys.", content: json(ManagedKeys, examples.managed_keys) }],
    problems: ["invalid_cursor"],
  },
  {
    method: "post",
    path: keysPath,
    id: "createKey",
    tag,
    summary: "Create a key",
    description: "The response contains the whole key. It is shown only once, because it is not stored.",
    scope: "admin",
    parameters: [creatingOnce],
    body: { description: "Properties of the new key.", content: json(NewKey, examples.new_key) },
    answers: [
      { status: 201, description: "The key, with its secret.", headers: ["location"], content: json(CreatedKey, examples.created_key) },
      { ...again, content: json(CreatedKey, { ...examples.created_key, secret: null }) },
    ],
    problems: [...bodyProblems, "idempotency_conflict", "precondition_failed"],
  },
  {
    method: "get",
    path: `${keysPath}/{id}`,
    id: "getKey",
    tag,
    summary: "A key without its secret",
    description: "Properties and state of a key. The secret is never returned.",
    scope: "admin",
    parameters: [id],
    answers: [key("The key.")],
    problems: ["key_not_found"],
  },
  {
    method: "patch",
    path: `${keysPath}/{id}`,
    id: "updateKey",
    tag,
    summary: "Change a key",
    description:
      "Members that are absent do not change. A limit of null resets it to that of the plan. Every gateway applies the change within a second.",
    scope: "admin",
    parameters: [id, force],
    body: { description: "Properties to change.", content: json(KeyPatch, examples.key_patch) },
    answers: [key("The key after the change.")],
    problems: [...bodyProblems, "key_not_found", "key_state_conflict", "last_admin_key", "precondition_failed"],
  },
  {
    method: "post",
    path: `${keysPath}/{id}/rotate`,
    id: "rotateKey",
    tag,
    summary: "Rotate a key",
    description:
      "Creates a successor with the same scopes, limits and usage, and shows it only once. The old key works until `replaces.valid_until`; until " +
      "then, its responses have the headers `Deprecation` and `Sunset`.",
    scope: "admin",
    parameters: [id, creatingOnce],
    body: { description: "Overlap and expiry.", required: false, content: json(KeyRotation, examples.key_rotation) },
    answers: [
      {
        status: 201,
        description: "The successor, with its secret.",
        headers: ["location"],
        content: json(RotatedKey, examples.rotated_key),
      },
      { ...again, content: json(RotatedKey, { ...examples.rotated_key, secret: null }) },
    ],
    problems: [...bodyProblems, "key_not_found", "key_state_conflict", "idempotency_conflict", "precondition_failed"],
  },
  stateRoute("disable", "Disable a key", "The key stops working until it is enabled again."),
  stateRoute("enable", "Enable a key", "The key works again."),
  stateRoute("revoke", "Revoke a key", "The key is revoked permanently. Every gateway rejects it within a second."),
];
