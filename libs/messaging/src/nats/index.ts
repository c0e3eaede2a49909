/** @netfacts/messaging/nats: messaging between processes. Apart from the rest, so that one process alone never loads it. */

export { type NatsAccess, NatsSettingsError, natsAccessOf } from "./access.ts";
export type { ConnectOptions, Waiting } from "./connect.ts";
export type { Refusal } from "./handshake.ts";
export { createNatsMessaging } from "./nats-messaging.ts";
export { type NatsUser, natsAuthorization, natsRights } from "./rights.ts";
