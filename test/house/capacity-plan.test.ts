/** The capacity plan: its page has the table that follows from its constants, and the table follows by the rules of the page. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { type MeasuredCosts, measuredCosts, planFor, planTable } from "../../bench/support/plan.ts";

const page = readFileSync(join(import.meta.dirname, "../../docs/operations/capacity-plan.md"), "utf8");

/** Easy to calculate with. */
const costs: MeasuredCosts = {
  gatewayUs: 100,
  podUs: 50,
  natsUs: 24,
  natsBytes: 5_000,
  natsMessages: 1,
  storeOperationsPerKey: 2,
  storeOperationsPerGateway: 1,
};

test("the page has the table of its constants", () => {
  expect(page).toContain(planTable(measuredCosts));
});

test("the page names the costs that it counts with", () => {
  const { gatewayUs, podUs, natsUs, natsBytes, natsMessages, storeOperationsPerKey, storeOperationsPerGateway } = measuredCosts;
  expect(page).toContain(`${gatewayUs} µs in the gateway, ${podUs} in the pod, ${natsUs} in nats-server`);
  expect(page).toContain(`${natsBytes.toLocaleString("en-US")} bytes and ${natsMessages} messages on NATS`);
  expect(page).toContain(`gateways × ${storeOperationsPerGateway} + keys in use × gateways that see a key × ${storeOperationsPerKey}`);
});

test("copies, servers, calls and operations follow from the costs", () => {
  expect(planFor(60_000, costs)).toEqual({
    gateways: 10,
    pods: 5,
    gatewayCores: 6,
    podCores: 3,
    memoryGib: 17.5,
    natsServers: 3,
    natsCores: 2.88,
    natsGigabits: 2.4,
    natsMessages: 63_200,
    callMessages: 3_200,
    storeOperations: 12_010,
    storeOperationsBound: 2_410,
  });
});

test("a small rate has two copies of each and three servers", () => {
  expect(planFor(10, costs)).toMatchObject({ gateways: 2, pods: 2, natsServers: 3 });
});

test("servers of NATS follow from cores or from traffic, whichever needs more", () => {
  expect(planFor(600_000, costs).natsServers).toBe(12);
  expect(planFor(600_000, { ...costs, natsBytes: 50_000 }).natsServers).toBe(48);
});
