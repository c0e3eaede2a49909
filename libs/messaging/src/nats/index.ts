/** @netfacts/messaging/nats: messaging between processes. A module of its own, so that a single process never loads it. */

export { type NatsAccess, NatsSettingsError, natsAccessOf } from "./access.ts";
export type { ConnectOptions, Waiting } from "./connect.ts";
export type { Refusal } from "./handshake.ts";
export { createNatsMessaging } from "./nats-messaging.ts";
export { type NatsUser, natsAuthorization, natsRights } from "./rights.ts";
