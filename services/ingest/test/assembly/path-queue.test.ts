import { expect, test } from "@jest/globals";
import { GrowableUint32 } from "@netfacts/snapshot";
import { PathQueue } from "../../src/assembly/path-queue.ts";
import { PathTable } from "../../src/assembly/path-table.ts";

/** Many short paths, of which most come again, and now and then one that is longer than the queue. */
function* paths(): Generator<Uint8Array> {
  for (let at = 0; at < 20_000; at++) {
    const number = (at * 7919) % 6_007;
    yield Uint8Array.of(2, 2, 0, 0, number >> 8, number & 255, 0, 0, 0, at % 3);
    if (at % 5_000 === 4_999) yield new Uint8Array(40_000).fill(at >> 8);
    if (at % 1_000 === 999) yield new Uint8Array(9_000).fill(at >> 10);
  }
}

test("numbers paths as they would be one by one, whatever their length", () => {
  const [table, alone] = [new PathTable(), new PathTable()];
  const queue = new PathQueue(table);
  const numbers = new GrowableUint32();
  const expected: number[] = [];
  for (const path of paths()) {
    const inside = Uint8Array.of(255, ...path, 255);
    queue.add(inside, 1, inside.length - 1, numbers);
    inside.fill(0);
    expected.push(alone.intern(path, 0, path.length));
  }
  queue.flush(numbers);
  expect([...numbers.view()]).toEqual(expected);
  expect(Buffer.from(table.bytes).equals(alone.bytes)).toBe(true);
});
