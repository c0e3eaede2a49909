/**
 * Batches whose caller does not read.
 *
 * @large Answers of 50 and 100 MB.
 */

import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { isLong } from "../../../../test/support/runs.ts";
import { exampleReply } from "../support/gateway.ts";
import { addresses, type BatchHarness, openLines, restOf, sendAll, startBatchGateway, untilItStands } from "./support.ts";

let gateway: BatchHarness;
beforeAll(async () => {
  gateway = await startBatchGateway({ config: { BATCHES_MAX: 4 } });
});
afterAll(() => gateway.stop());

/** For a machine that is busy with much else. */
const slowMs = 120_000;
const monthLimit = 100_000;

async function monthLeft(headers: Record<string, string>): Promise<string | undefined> {
  return (await gateway.request("GET", "/api/v1/me", headers)).headers["x-quota-remaining"];
}

/** Sends `total` addresses, reads nothing until no more is asked, and then all of it. `asked` tells how many were asked. */
async function readLate(coding: string, total: number, asked: () => number): Promise<void> {
  const headers = { authorization: `Bearer ${await gateway.batchKey({ month: { limit: monthLimit } })}` };
  const stream = openLines(gateway.url, { ...headers, "accept-encoding": coding });
  const sending = sendAll(stream, addresses(total));
  const response = await stream.response();
  await untilItStands(asked);
  expect(asked()).toBeLessThan(total / 2);
  expect(response.complete).toBe(false);
  const { results, summary } = await restOf(stream);
  await sending;
  gateway.answers.clear();
  expect(results).toHaveLength(total);
  expect(summary).toMatchObject({ count: total, failed_count: 0 });
  expect(await monthLeft(headers)).toBe(String(monthLimit - total));
}

test(
  "no more is asked than the window holds while a reader does not read, and all of it comes once it does",
  async () => {
    let asked = 0;
    gateway.answers.set("ip", () => {
      asked += 1;
      return exampleReply("ip");
    });
    // Both ends of a loopback connection hold some megabytes; the answer has more than 50.
    await readLate("identity", 30_000, () => asked);
  },
  slowMs,
);

// Some 100 MB each, three times what the sockets and the packers hold: one coding in an ordinary run.
test.each(isLong ? ["zstd", "br", "gzip"] : ["zstd"])(
  "no more is asked either for a packed answer, in %s",
  async (coding) => {
    let asked = 0;
    // What cannot be packed: a reader that stands still holds up as much as an unpacked answer would.
    const text = randomBytes(3_000).toString("base64");
    gateway.answers.set("ip", () => {
      asked += 1;
      const at = (asked * 37) % 2_000;
      return { ...exampleReply("ip"), body: Buffer.from(`{"noise":"${text.slice(at) + randomBytes(600).toString("base64")}"}`) };
    });
    await readLate(coding, 24_000, () => asked);
  },
  slowMs,
);
