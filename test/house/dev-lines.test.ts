/** The one stream of `make dev`: whole lines behind names, however the pieces were cut. */

import { expect, test } from "@jest/globals";
import { LineStream } from "../../scripts/dev/lines.ts";

function streamOf(isColoured: boolean) {
  const written: string[] = [];
  const stream = new LineStream({ names: ["a", "long"], isColoured, write: (text) => written.push(text) });
  return { stream, written };
}

test("a line is written once it is whole, also when another process prints in between", () => {
  const { stream, written } = streamOf(false);
  stream.add("a", "one\ntw");
  stream.add("long", "other\n");
  stream.add("a", "o\n\n");
  expect(written).toEqual(["a    | one\n", "long | other\n", "a    | two\n", "a    | \n"]);
});

test("what a process left without an end of line is written at its end, once", () => {
  const { stream, written } = streamOf(false);
  stream.add("a", "cut");
  stream.end("a");
  stream.end("a");
  expect(written).toEqual(["a    | cut\n"]);
});

test("on a terminal each name has a colour of its own, and the line has none", () => {
  const { stream, written } = streamOf(true);
  stream.add("a", "x\n");
  stream.add("long", "x\n");
  const [first, second] = written.map((line) => /^E\[(\d+)m\w+ *E\[0m \| x\n$/.exec(line.replaceAll("\u001b", "E"))?.[1]);
  expect(first).toMatch(/^\d+$/);
  expect(second).toMatch(/^\d+$/);
  expect(first).not.toBe(second);
});
