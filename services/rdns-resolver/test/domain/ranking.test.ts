/** The order of nameservers. */

import { expect, test } from "@jest/globals";
import { rank } from "../../src/domain/ranking.ts";

const server = (name: string, latencyMs: number | null, state: { up?: boolean; failing?: boolean } = {}) => ({
  name,
  latencyMs,
  up: true,
  failing: false,
  ...state,
});

const names = (servers: readonly { name: string }[]) => servers.map(({ name }) => name).join("");

test.each([
  ["as listed where nothing is known", [server("a", null), server("b", null), server("c", null)], "abc"],
  ["as listed where one is hardly slower", [server("a", 12), server("b", 10), server("c", 8)], "abc"],
  ["the clearly slower ones last", [server("a", 90), server("b", 30), server("c", 1)], "cba"],
  ["a slow one after those that are alike", [server("a", 90), server("b", 2), server("c", 1)], "bca"],
  ["one that is not measured as it is listed", [server("a", 90), server("b", null), server("c", 1)], "bca"],
  ["those that fail after slow ones", [server("a", 1, { failing: true }), server("b", 90)], "ba"],
  ["those that are down last", [server("a", 1, { up: false }), server("b", 90, { failing: true }), server("c", 900)], "cba"],
  ["by latency where all fail", [server("a", 90, { failing: true }), server("b", 1, { failing: true })], "ba"],
])("%s", (_, servers, expected) => {
  expect(names(rank(servers))).toBe(expected);
});
