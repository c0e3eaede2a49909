/** Connections of commands to NATS, with the settings of services. Import this only when needed, because it loads the client. */

import type { Messaging, MessagingOptions } from "@netfacts/messaging";
import { type ConnectOptions, createNatsMessaging, NatsSettingsError, natsAccessOf } from "@netfacts/messaging/nats";
import { ConfigError, loadConfig } from "@netfacts/runtime";
import { busConfigSchema } from "@netfacts/runtime/bus";
import { CliError } from "./cli-error.ts";
import { exitCodes } from "./exit-codes.ts";

const name = "netfacts-cli";

/** @param servers  overrides NATS_URL and NATS_URL_FILE. @throws CliError for invalid settings. */
export function natsConnection(servers?: string): ConnectOptions {
  try {
    const { NATS_URL, NATS_URL_FILE, ...others } = process.env;
    const config = loadConfig(busConfigSchema, servers === undefined ? process.env : { ...others, NATS_URL: servers });
    return { servers: config.NATS_URL, name, access: natsAccessOf(config), once: true };
  } catch (error) {
    throw error instanceof ConfigError ? new CliError(exitCodes.usage, error.faults, error) : error;
  }
}

/** @throws CliError for invalid settings, and if no server accepts the connection. */
export async function openNatsMessaging(connection: ConnectOptions & MessagingOptions = natsConnection()): Promise<Messaging> {
  return await createNatsMessaging(connection).catch(noServer);
}

/** @throws CliError always. */
export function noServer(cause: unknown): never {
  if (cause instanceof NatsSettingsError) throw new CliError(exitCodes.usage, cause.faults, cause);
  throw new CliError(exitCodes.unavailable, `no connection to NATS: ${(cause as Error).message}`, cause);
}
