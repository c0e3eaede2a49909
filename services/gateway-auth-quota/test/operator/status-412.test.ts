/** 412: writes of operators with conditions that the routes cannot check. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { refuseConditions } from "../../src/operator/refused-headers.ts";
import { ask, keys, makeKey, plans } from "../support/admin.ts";
import { type OperatorHarness, runsPath, startOperatorHarness } from "../support/operator.ts";
import { expectProblem, provokes } from "../support/provokes.ts";

const profiles = "/admin/v1/profiles";
const past = "Wed, 01 Jan 2020 00:00:00 GMT";

describe("a condition", () => {
  const refused = (method: string, headers: Record<string, string>): boolean => {
    try {
      refuseConditions({ method, headers });
      return false;
    } catch {
      return true;
    }
  };

  test("of a write is refused, but for `If-Match: *` where the method does not create", () => {
    for (const method of ["POST", "PATCH", "DELETE", "PUT"]) {
      expect(refused(method, {})).toBe(false);
      for (const [name, value] of [
        ["if-match", '"1"'],
        ["if-none-match", "*"],
        ["if-none-match", '"1"'],
        ["if-unmodified-since", past],
      ] as const)
        expect([method, name, refused(method, { [name]: value })]).toEqual([method, name, true]);
      expect([method, refused(method, { "if-match": " * " })]).toEqual([method, method === "PUT"]);
    }
    expect(refused("PATCH", { "if-match": "*", "if-unmodified-since": past })).toBe(true);
  });

  test("of a read is not", () => {
    for (const method of ["GET", "HEAD"]) expect(refused(method, { "if-none-match": "*", "if-match": '"1"' })).toBe(false);
  });
});

describe("the listener", () => {
  let harness: OperatorHarness;
  let id = "";
  beforeAll(async () => {
    harness = await startOperatorHarness();
  });
  afterAll(() => harness.stop());
  beforeEach(async () => {
    ({ id } = await makeKey(harness, { label: "before" }));
  });

  provokes("precondition_failed", "a key of another version", async () => {
    const answer = await ask(harness, "PATCH", `${keys}/${id}`, { label: "after" }, { headers: { "if-match": '"nope"' } });
    expect((await ask(harness, "GET", `${keys}/${id}`)).json).toMatchObject({ label: "before", version: 1 });
    return answer;
  });

  provokes("precondition_failed", "a key that was changed since", () =>
    ask(harness, "POST", `${keys}/${id}/disable`, undefined, { headers: { "if-unmodified-since": past } }),
  );

  provokes("precondition_failed", "an override that is there already", async () => {
    await ask(harness, "PUT", `${profiles}/AS3333`, { name: "BEFORE" });
    const answer = await ask(harness, "PUT", `${profiles}/AS3333`, { name: "AFTER" }, { headers: { "if-none-match": "*" } });
    expect((await ask(harness, "GET", `${profiles}/AS3333`)).json.override).toMatchObject({ name: "BEFORE" });
    return answer;
  });

  provokes("precondition_failed", "a write of ingest, which does not get it", async () => {
    const answer = await harness.ask("POST", runsPath, { headers: { "if-match": '"1"' } });
    expect(harness.ingest.requests).toEqual([]);
    return answer;
  });

  test("`If-Match: *` holds for a key, and a fault of the request comes first", async () => {
    const headers = { "if-match": "*" };
    expect((await ask(harness, "PATCH", `${keys}/${id}`, { label: "after" }, { headers })).json.label).toBe("after");
    expectProblem(await ask(harness, "PATCH", `${keys}/00000000`, { label: "after" }, { headers }), "key_not_found");
    expectProblem(await ask(harness, "PUT", `${plans}/team`, {}, { headers }), "invalid_body");
  });
});
