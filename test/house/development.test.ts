/** The program of the image for development: it starts a service again for each change of its files, as skaffold's copies make them. */

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { until } from "../support/http.ts";
import { copyArguments } from "../support/skaffold.ts";

const source = resolve(import.meta.dirname, "../../scripts/images/development.ts");
/** Only ends what hangs. */
const timeoutMs = 60_000;
const children: ChildProcess[] = [];
let root: string;

const library = "libs/text/src/text.ts";
const main = "services/one/src/main.ts";
const program = `import { text } from "../../../libs/text/src/text.ts";
const alive = setInterval(() => {}, 1_000);
process.on("SIGTERM", () => {
  console.log("stopped");
  clearInterval(alive);
});
// Last, as tests then end it.
console.log(\`says \${text} \${process.argv.slice(2)}\`);
`;

/** As the image has them: the sources in `original`, and empty volumes over `libs` and `services`. */
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "netfacts-development-"));
  write("package.json", '{ "type": "module" }');
  mkdirSync(join(root, "scripts/images"), { recursive: true });
  cpSync(source, join(root, "scripts/images/development.ts"));
  for (const folder of ["libs", "services"]) mkdirSync(join(root, folder));
  write(`original/${library}`, 'export const text: string = "first";');
  write(`original/${main}`, program);
  write("original/services/two/src/main.ts", program);
  write("original/services/cli/src/main.ts", "console.log(process.argv.slice(2).join()); process.exitCode = 3;");
});

afterEach(() => {
  for (const child of children.splice(0)) killAll(child);
  rmSync(root, { recursive: true, force: true });
});

/** The program with its service, as the end of a container does. */
function killAll({ pid = 0, exitCode, signalCode }: ChildProcess): void {
  if (exitCode === null && signalCode === null) process.kill(-pid, "SIGKILL");
}

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

/** As skaffold copies a changed file, into a container whose root is ours. */
function copy(path: string, text: string): void {
  const changed = mkdtempSync(join(root, "changed-"));
  mkdirSync(dirname(join(changed, path)), { recursive: true });
  writeFileSync(join(changed, path), text);
  const [tar = "", ...args] = copyArguments("pod", "namespace", "container").slice(
    "exec pod --namespace namespace -c container -i --".split(" ").length,
  );
  const input = execFileSync("tar", ["cf", "-", "-C", changed, path]);
  execFileSync(
    tar,
    args.map((arg) => (arg === "/" ? root : arg)),
    { input },
  );
}

interface Program {
  readonly child: ChildProcess;
  readonly printed: { text: string };
  readonly ended: Promise<number>;
}

function start(args: readonly string[], env: Record<string, string> = {}): Program {
  const child = spawn(process.execPath, [join(root, "scripts/images/development.ts"), ...args], {
    env: { PATH: process.env.PATH, NODE_NO_WARNINGS: "1", ...env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  children.push(child);
  const printed = { text: "" };
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      printed.text += text;
    });
  return { child, printed, ended: once(child, "close").then(([status]) => status as number) };
}

const count = (text: string, part: string) => text.split(part).length - 1;
const untilPrinted = ({ printed }: Program, part: string, times = 1) => until(() => count(printed.text, part) >= times, { timeoutMs });

test(
  "each replacement of a file starts the service again, with its arguments",
  async () => {
    const one = start(["one", "--flag"]);
    await untilPrinted(one, "says first --flag");
    for (const text of ["second", "third", "fourth"]) {
      copy(library, `export const text: string = "${text}";`);
      await untilPrinted(one, `says ${text} --flag`);
    }
    expect(count(one.printed.text, "stopped")).toBe(3);
  },
  timeoutMs,
);

test(
  "a file in a new folder counts, also when the folder was removed and made again",
  async () => {
    const one = start(["one"]);
    await untilPrinted(one, "says first");
    for (const [times, text] of [
      [1, "new"],
      [2, "newer"],
    ] as const) {
      copy("libs/text/src/deep/er/deep.ts", `export const text: string = "${text}";`);
      copy(library, 'export { text } from "./deep/er/deep.ts";');
      await untilPrinted(one, `says ${text}`);
      // Now of the new folder alone.
      copy("libs/text/src/deep/er/deep.ts", 'export const text: string = "deep";');
      await untilPrinted(one, "says deep", times);
      rmSync(join(root, "libs/text/src/deep"), { recursive: true });
      copy(library, 'export const text: string = "without";');
      await untilPrinted(one, "says without", times);
    }
  },
  2 * timeoutMs,
);

test(
  "a service that does not compile starts again with the next change",
  async () => {
    const one = start(["one"]);
    await untilPrinted(one, "says first");
    copy(library, "export const = 1;");
    await untilPrinted(one, "one ended with status 1");
    expect(one.printed.text).toContain("libs/text/src/text.ts");
    copy(library, 'export const text: string = "repaired";');
    await untilPrinted(one, "says repaired");
  },
  timeoutMs,
);

test(
  "a service that does not hear signals, as at a breakpoint, is ended for a change all the same",
  async () => {
    write(`original/${main}`, program.replace("clearInterval(alive)", ""));
    const one = start(["one"]);
    await untilPrinted(one, "says first");
    copy(library, 'export const text: string = "second";');
    await untilPrinted(one, "says second");
    expect(one.printed.text).toMatch(/stopped\nsays second/);
  },
  timeoutMs,
);

test(
  "a service does not start again for a file of another one",
  async () => {
    const [one, two] = [start(["one"]), start(["two"])];
    await Promise.all([untilPrinted(one, "says first"), untilPrinted(two, "says first")]);
    copy("services/two/src/more.ts", "export {};");
    await untilPrinted(two, "says first", 2);
    expect(count(one.printed.text, "says first")).toBe(1);
  },
  timeoutMs,
);

test(
  "what was copied is still there after a restart of the container",
  async () => {
    const before = start(["one"]);
    await untilPrinted(before, "says first");
    copy(library, 'export const text: string = "copied";');
    await untilPrinted(before, "says copied");
    killAll(before.child);
    await before.ended;
    await untilPrinted(start(["one"]), "says copied");
  },
  timeoutMs,
);

test(
  "ends by SIGTERM with the service",
  async () => {
    const one = start(["one"]);
    await untilPrinted(one, "says first");
    one.child.kill("SIGTERM");
    expect(await one.ended).toBe(0);
    expect(one.printed.text).toMatch(/stopped\n$/);
  },
  timeoutMs,
);

test(
  "the inspector is that of the service, and opens again with it",
  async () => {
    const one = start(["one"], { INSPECT: "127.0.0.1:0" });
    await untilPrinted(one, "says first");
    copy(library, 'export const text: string = "second";');
    await untilPrinted(one, "says second");
    expect(count(one.printed.text, "Debugger listening on ws://127.0.0.1:")).toBe(2);
  },
  timeoutMs,
);

test(
  "the command line runs once, with its arguments and its status, and without an inspector",
  async () => {
    const cli = start(["cli", "keys", "list"], { INSPECT: "127.0.0.1:0" });
    expect(await cli.ended).toBe(3);
    expect(cli.printed.text).toBe("keys,list\n");
  },
  timeoutMs,
);

test(
  "a service that does not exist is refused with the names of those that do",
  async () => {
    const none = start(["three"]);
    expect(await none.ended).toBe(2);
    expect(none.printed.text).toBe('there is no service "three"; use one of cli, one, two\n');
  },
  timeoutMs,
);
