/** @netfacts/messaging/nats-client: the NATS client, for packages that keep data in JetStream. No other package imports `nats` itself. */

export {
  consumerOpts,
  DiscardPolicy,
  Events,
  headers,
  type JetStreamClient,
  type JetStreamManager,
  type JsMsg,
  type NatsConnection,
  type NatsError,
  nuid,
  StorageType,
  type StoredMsg,
} from "nats";
export { type NatsAccess, NatsSettingsError } from "./access.ts";
export { type ConnectOptions, connect } from "./connect.ts";
