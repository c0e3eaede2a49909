/** Calculates the capacity plan: the copies, cores and servers for a rate of requests, from the cost of a request. */

import { table } from "../../scripts/markdown-table.ts";

/** Costs of a request, unless the name says otherwise. */
export interface MeasuredCosts {
  /** Processor time when about four requests share a frame. */
  readonly gatewayUs: number;
  readonly podUs: number;
  readonly natsUs: number;
  /** Sum of bytes into and out of nats-server. */
  readonly natsBytes: number;
  readonly natsMessages: number;
  /** MongoDB operations per second for a key in use at a gateway. */
  readonly storeOperationsPerKey: number;
  /** MongoDB operations per second of a gateway without keys. */
  readonly storeOperationsPerGateway: number;
}

/** Costs in the page `docs/operations/capacity-plan.md`; `bench/capacity-plan.ts` prints those of its machine. */
export const measuredCosts: MeasuredCosts = {
  gatewayUs: 144,
  podUs: 46,
  natsUs: 42,
  natsBytes: 4_058,
  natsMessages: 1.09,
  storeOperationsPerKey: 2.6,
  storeOperationsPerGateway: 1.2,
};

/** Chosen values, which are not measured. */
const assumptions = {
  /** Share of a core that a gateway or pod may use: if one of three zones fails, the others use 0.9. */
  utilisation: 0.6,
  copiesMin: 2,
  natsServersMin: 3,
  natsCores: 4,
  /** Bits per second of a server in each direction: half of 10 Gbit/s. */
  natsBitsPerSecond: 5e9,
  /** Servers on the way of a message whose receiver is connected to another server of the cluster. */
  natsHops: 2,
  /** Rate of `nf.c1`, which each gateway sends to all pods every 50 ms. */
  callsPerSecond: 20,
  /** Requests per second of a key in use. */
  requestsPerKey: 100,
  gatewaysOfKey: 2,
  gatewayGib: 1,
  podGib: 1.5,
} as const;

export interface Plan {
  readonly gateways: number;
  readonly pods: number;
  readonly gatewayCores: number;
  readonly podCores: number;
  readonly memoryGib: number;
  readonly natsServers: number;
  readonly natsCores: number;
  readonly natsGigabits: number;
  /** Messages per second, in and out. */
  readonly natsMessages: number;
  /** The ones among them with which gateways find pods. */
  readonly callMessages: number;
  /** MongoDB operations per second if each key is in use at every gateway. */
  readonly storeOperations: number;
  /** MongoDB operations per second if each key is in use at two gateways. */
  readonly storeOperationsBound: number;
}

export function planFor(requestsPerSecond: number, costs: MeasuredCosts): Plan {
  const a = assumptions;
  const copies = (us: number) => Math.max(a.copiesMin, Math.ceil((requestsPerSecond * us) / 1e6 / a.utilisation));
  const [gateways, pods] = [copies(costs.gatewayUs), copies(costs.podUs)];
  const natsCores = ((requestsPerSecond * costs.natsUs) / 1e6) * a.natsHops;
  const bitsEachWay = ((requestsPerSecond * costs.natsBytes * 8) / 2) * a.natsHops;
  const byCores = Math.ceil(natsCores / (a.natsCores * a.utilisation));
  const byBits = Math.ceil(bitsEachWay / a.natsBitsPerSecond);
  // The call, its copies, and the answers in and out.
  const callMessages = gateways * a.callsPerSecond * (1 + 3 * pods);
  const keys = requestsPerSecond / a.requestsPerKey;
  const storeOperations = (gatewaysOfKey: number) =>
    gateways * costs.storeOperationsPerGateway + keys * Math.min(gateways, gatewaysOfKey) * costs.storeOperationsPerKey;
  return {
    gateways,
    pods,
    gatewayCores: (requestsPerSecond * costs.gatewayUs) / 1e6,
    podCores: (requestsPerSecond * costs.podUs) / 1e6,
    memoryGib: gateways * a.gatewayGib + pods * a.podGib,
    natsServers: Math.max(a.natsServersMin, byCores, byBits),
    natsCores,
    natsGigabits: bitsEachWay / 1e9,
    natsMessages: requestsPerSecond * costs.natsMessages + callMessages,
    callMessages,
    storeOperations: storeOperations(Number.POSITIVE_INFINITY),
    storeOperationsBound: storeOperations(a.gatewaysOfKey),
  };
}

const rates = [1_000, 100_000, 1_000_000] as const;
const whole = (value: number): string => Math.round(value).toLocaleString("en-US");
const short = (value: number): string => (value < 10 ? value.toFixed(1) : whole(value));
const rows: readonly (readonly [string, (plan: Plan) => string])[] = [
  ["gateways, of 1 core each", ({ gateways }) => whole(gateways)],
  ["pods of `ip-routing`, of 1 core each", ({ pods }) => whole(pods)],
  ["cores in use by gateways", ({ gatewayCores }) => short(gatewayCores)],
  ["cores in use by pods", ({ podCores }) => short(podCores)],
  ["memory limits of both, GiB", ({ memoryGib }) => whole(memoryGib)],
  ["NATS servers, of 4 cores", ({ natsServers }) => whole(natsServers)],
  ["cores in use by NATS", ({ natsCores }) => short(natsCores)],
  ["NATS traffic each way, Gbit/s", ({ natsGigabits }) => short(natsGigabits)],
  ["NATS messages a second", ({ natsMessages }) => whole(natsMessages)],
  ["of these, calls and their answers", ({ callMessages }) => whole(callMessages)],
  ["MongoDB operations a second, each key at every gateway", ({ storeOperations }) => whole(storeOperations)],
  ["MongoDB operations a second, each key at two gateways", ({ storeOperationsBound }) => whole(storeOperationsBound)],
];

/** The plan as a table for the page. The last column is ten cells of the size in the middle column. */
export function planTable(costs: MeasuredCosts): string {
  const plans = rates.map((rate) => planFor(rate, costs));
  const cell = plans[1] as Plan;
  const cells = Object.fromEntries(Object.entries(cell).map(([name, value]) => [name, value * 10])) as unknown as Plan;
  const head = ["requests a second", ...rates.map(whole), "10 cells of 100,000"];
  const lines = rows.map(([name, shown]) => [name, ...[...plans, cells].map(shown)]);
  return table(head, lines);
}
