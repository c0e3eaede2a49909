/** NATS' driver as it is, for the peers of benchmarks that use it the obvious way. */

export { connect, type NatsConnection } from "nats";
