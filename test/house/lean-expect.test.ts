import { describe, expect, test } from "@jest/globals";

function failureOf(assert: () => void): Error {
  try {
    assert();
  } catch (error) {
    return error as Error;
  }
  throw new Error("it passed");
}

describe("expect", () => {
  test("a failed comparison names both values and the line of the test", () => {
    for (const matcher of ["toBe", "toEqual", "toStrictEqual"] as const) {
      const { message, stack } = failureOf(() => expect(1)[matcher](2));
      expect(message).toMatch(/Expected: .*2.*\n.*Received: .*1/);
      expect(/^ +at .*$/m.exec(stack ?? "")?.[0]).toContain("lean-expect.test");
    }
  });

  test("values are the same as Jest compares them", () => {
    const list = [1];
    expect(Number.NaN).toBe(Number.NaN);
    expect(list).toBe(list);
    expect(list).toEqual([1]);
    expect({ a: undefined }).toEqual({});
    expect({ a: 1 }).toEqual({ a: expect.any(Number) });
    failureOf(() => expect(0).toBe(-0));
    failureOf(() => expect(list).toBe([1]));
    failureOf(() => expect({ a: undefined }).toStrictEqual({}));
    failureOf(() => expect({ a: 1 }).toEqual({ a: expect.any(String) }));
  });

  test("every other matcher is Jest's", async () => {
    expect(1).not.toBe(2);
    failureOf(() => expect(1).not.toBe(1));
    failureOf(() => expect(1).toBeGreaterThan(1));
    await expect(Promise.resolve(3)).resolves.toBe(3);
    await expect(expect(Promise.resolve(3)).resolves.toBe(4)).rejects.toThrow("toBe");
  });
});
