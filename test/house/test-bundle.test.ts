/** Files of tests run from one bundle, made of the sources as they are when the run begins. Runs the real program on a planted suite. */

import { availableParallelism } from "node:os";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { type PlantedRun, PlantedSuite } from "./planted-suite.ts";

const passing = 'import { test } from "@jest/globals"; test("passes", () => {});';
/** Where Node says that the calling module is, without source maps. */
const loadedFrom = `
  export function loadedFrom() {
    const { prepareStackTrace } = Error;
    try {
      Error.prepareStackTrace = (_, [frame]) => frame.getFileName();
      return new Error().stack;
    } finally {
      Error.prepareStackTrace = prepareStackTrace;
    }
  }`;

/** Files that leave something behind. They are more than Jest has workers, so that one worker has two of them. */
const leaving = Array.from({ length: availableParallelism() + 4 }, (_, index) => `leaves-${index + 1}`);

let planted: PlantedSuite;
let first: PlantedRun;
let second: PlantedRun;

beforeAll(async () => {
  planted = new PlantedSuite();
  planted.write("src/place.ts", `export const places = [import.meta.url, import.meta.dirname, import.meta.filename];${loadedFrom}`);
  planted.write("src/value.ts", "export const value = 1;");
  planted.write("src/thrower.ts", 'interface Lines {\n  a: 1;\n}\n\nexport function thrower(): Lines {\n  throw new Error("thrown");\n}');
  planted.write(
    "test/place.test.ts",
    `import { expect, test } from "@jest/globals";
    import { loadedFrom, places } from "../src/place.ts";
    test("sees its source", () => {
      expect(places).toEqual(["file://${planted.root}/src/place.ts", "${planted.root}/src", "${planted.root}/src/place.ts"]);
      expect(import.meta.filename).toBe("${planted.root}/test/place.test.ts");
    });
    test("is loaded from the bundle", () => expect(loadedFrom()).toContain("${planted.root}/run/tests/"));`,
  );
  planted.write(
    "test/value.test.ts",
    'import { expect, test } from "@jest/globals"; import { value } from "../src/value.ts"; test("is one", () => expect(value).toBe(1));',
  );
  planted.write("src/seen.ts", "export const seen: string[] = [];");
  for (const name of leaving) {
    planted.write(
      `test/${name}.test.ts`,
      `import { expect, jest, test } from "@jest/globals"; import { seen } from "../src/seen.ts";
      test("sees what it left itself", () => {
        const left = process.listeners("exit").filter(({ name }) => name === "left");
        expect([...seen, ...left, process.env.LEFT, Date.now() > 0]).toEqual([undefined, true]);
        seen.push("${name}");
        process.env.LEFT = "${name}";
        process.on("exit", function left() {});
        jest.spyOn(Date, "now").mockReturnValue(0);
      });`,
    );
  }
  planted.write(
    "test/throws.test.ts",
    'import { test } from "@jest/globals";\nimport { thrower } from "../src/thrower.ts";\n\ntype Not = "kept";\n\ntest("throws", () => {\n  thrower();\n});',
  );
  planted.write("test/no-file.test.ts", `${passing}\nimport "./not-there.ts";`);
  planted.write("test/no-name.test.ts", `${passing}\nimport { absent } from "../src/value.ts"; absent();`);
  planted.write("test/no-syntax.test.ts", `${passing}\nconst a = ;`);
  first = await planted.run(["--unit"]);
  planted.write("src/value.ts", "export const value = 2;");
  second = await planted.run(["--unit", "test/value"]);
}, 240_000);
afterAll(() => planted.remove());

test("a file and what it imports are loaded from the bundle, and see the paths of their sources", () => {
  expect(first.report).toContain("PASS test/place.test.ts");
});

test("a source that changed since the last run is seen", () => {
  expect(first.report).toContain("PASS test/value.test.ts");
  expect(second).toMatchObject({ line: "0 passed, 1 failed", report: expect.stringContaining("Received: 2") });
});

test("what fails names the line of the source and of the test", () => {
  expect(first.report).toMatch(/at thrower \(src\/thrower\.ts:6:9\)/);
  expect(first.report).toMatch(/test\/throws\.test\.ts:7:3/);
  expect(first.report).toMatch(/> 6 \|\s+throw new Error\("thrown"\)/);
});

test("a file sees nothing of what another one of its process left in modules, variables of the environment, listeners of the exit and spies", () => {
  for (const name of leaving) expect(first.report).toContain(`PASS test/${name}.test.ts`);
});

test.each([
  ["imports a file that is not there", "no-file", "test/not-there.ts"],
  ["imports a name that is not there", "no-name", "absent"],
  ["has an error of syntax", "no-syntax", "Expression expected"],
])("a file that %s fails by its name, and no other does", (_fault, name, message) => {
  expect(first.report).toContain(`FAIL test/${name}.test.ts`);
  expect(first.report).toContain(message);
  // Two tests of `place`, one of `value`, those of `leaving`; `throws` and the three that cannot be loaded.
  expect(first.line).toBe(`${3 + leaving.length} passed, 4 failed`);
});
