/** Where the gateway listens, from its settings. */

import type { ListenPlace } from "@netfacts/runtime";
import type { GatewayConfig } from "./config.ts";

/** Places of all listeners. A port below 0 means that there is no listener. */
export function listenPlaces(config: GatewayConfig): Readonly<Record<"http" | "operator" | "whois", ListenPlace>> {
  return {
    http: { host: config.HOST, port: config.PORT, hostSetting: "HOST", portSetting: "PORT" },
    operator: { host: config.OPERATOR_HOST, port: config.OPERATOR_PORT, hostSetting: "OPERATOR_HOST", portSetting: "OPERATOR_PORT" },
    whois: whoisPlace(config),
  };
}

export function whoisPlace({ WHOIS_HOST, WHOIS_PORT }: Pick<GatewayConfig, "WHOIS_HOST" | "WHOIS_PORT">): ListenPlace {
  return { host: WHOIS_HOST, port: WHOIS_PORT, hostSetting: "WHOIS_HOST", portSetting: "WHOIS_PORT" };
}
