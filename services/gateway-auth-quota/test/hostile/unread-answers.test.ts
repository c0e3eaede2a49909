/** Which connections end when too many bytes wait for clients. */

import { expect, test } from "@jest/globals";
import { longestBeyond } from "../../src/edge/unread-answers.ts";

const of = (caller: string, ...bytes: number[]) => bytes.map((each) => ({ caller, bytes: each }));

test("the caller for whom most waits loses its longest connections, until no more than the maximum waits", () => {
  const waiting = [...of("polite", 40), ...of("greedy", 10, 30, 20, 30), ...of("idle", 0)];
  expect(longestBeyond(waiting, 130)).toEqual([]);
  expect(longestBeyond(waiting, 100)).toEqual(of("greedy", 30));
  expect(longestBeyond(waiting, 80)).toEqual(of("greedy", 30, 30));
  expect(longestBeyond(waiting, 0)).toHaveLength(5);
});
