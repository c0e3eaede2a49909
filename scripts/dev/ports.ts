/** The ports of `make dev`: the same at each start, in a row from DEV_PORT on. */

import { checkPorts } from "../../services/standalone/src/port-owner.ts";
import type { DistributedPorts, ServiceName } from "../../test/support/distributed.ts";

const devPortDefault = 18_080;
const host = "127.0.0.1";
/** Most ports in the row, which must end at the highest port or before. */
const rowMax = 32;
const portMax = 65_535;

export interface DevPorts extends DistributedPorts {
  readonly unbound: number;
}

/**
 * Assigns ports to the gateways first, then to their operator listeners, ingest, the servers, and the telemetry port of each process:
 * docs/getting-started.md has the table.
 *
 * @param setting  DEV_PORT; empty: the default.
 * @returns null for DEV_PORT=0: any free ports.
 * @throws Error with one line, for an invalid DEV_PORT, and for a port in use, with its owner and the setting.
 */
export async function devPorts(setting: string, replicas: Readonly<Partial<Record<ServiceName, number>>>): Promise<DevPorts | null> {
  const from = setting === "" ? devPortDefault : Number(setting);
  if (from === 0) return null;
  if (!Number.isInteger(from) || from < 1 || from > portMax - rowMax)
    throw new Error(`DEV_PORT must be 0 or a port from 1 to ${portMax - rowMax}, not ${JSON.stringify(setting)}`);
  let next = from;
  const row = (count: number) => Array.from({ length: count }, () => next++);
  const gateways = row(replicas["gateway-auth-quota"] ?? 0);
  const operators = row(gateways.length);
  const ingests = row(replicas.ingest ?? 0);
  const [nats = 0, mongo = 0, unbound = 0] = row(3);
  const operations = new Map(Object.entries(replicas).map(([service, count]) => [service, row(count)]));
  for (let port = from; port < next; port++) await checkPorts([{ portSetting: "DEV_PORT", hostSetting: "DEV_PORT", host, port }]);
  return {
    nats,
    mongo,
    unbound,
    of(service, index) {
      const http = service === "gateway-auth-quota" ? gateways[index] : service === "ingest" ? ingests[index] : 0;
      const operator = service === "gateway-auth-quota" ? operators[index] : -1;
      return { http: http ?? 0, operations: operations.get(service)?.[index] ?? 0, operator: operator ?? -1 };
    },
  };
}
