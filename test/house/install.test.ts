/** Installing packages: once, again when it must be, and whole after an interruption. npm is played. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { type Ended, Sandbox } from "./sandbox.ts";

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
  sandbox.realNode();
  npmThat("mkdir -p node_modules/whole");
  sandbox.write("program.ts", 'const text: string = "ran"; console.log(text, process.argv.slice(2).join("|"), process.cwd());');
});
afterEach(() => sandbox.remove());

/** Each call leaves a line in `calls`. */
function npmThat(script: string): void {
  sandbox.program("npm", `echo "$@" >>${sandbox.folder}/calls\n${script}`);
}

function calls(): string[] {
  const path = join(sandbox.folder, "calls");
  return existsSync(path) ? readFileSync(path, "utf8").trimEnd().split("\n") : [];
}

function run(...options: string[]): Promise<Ended> {
  return sandbox.run(join(sandbox.root, "scripts/run.sh"), ["program.ts", ...options]);
}

describe("scripts/run.sh", () => {
  test("installs at the first start only", async () => {
    expect(await run("a", "b c")).toEqual({ status: 0, out: `ran a|b c ${sandbox.root}\n`, err: "installing packages (once)\n" });
    expect(await run()).toMatchObject({ status: 0, err: "" });
    expect(calls()).toEqual(["install --no-save --no-audit --no-fund --no-progress"]);
  });

  test("installs again when the lockfile changed", async () => {
    await run();
    sandbox.write("package-lock.json", '{"changed":true}\n');
    await run();
    expect(calls()).toHaveLength(2);
  });

  test("installs again when a package that npm put beside one of ours is gone; one of another platform never came", async () => {
    const packages = {
      "services/two": { version: "1.0.0" },
      "services/two/node_modules/@x/three": { version: "1.0.0", license: "MIT" },
      "services/two/node_modules/other-os": { version: "1.0.0", optional: true },
    };
    sandbox.write("package-lock.json", `${JSON.stringify({ packages }, null, 2)}\n`);
    npmThat("mkdir -p services/two/node_modules/@x/three");
    await run();
    await run();
    expect(calls()).toHaveLength(1);
    rmSync(join(sandbox.root, "services/two/node_modules"), { recursive: true });
    expect(await run()).toMatchObject({ status: 0, err: "installing packages (once)\n" });
    expect(calls()).toHaveLength(2);
  });

  describe("for a program of a service", () => {
    const full = "install --no-save --no-audit --no-fund --no-progress";
    const small = "install --omit=dev --no-save --no-audit --no-fund --no-progress";
    const service = () => sandbox.run(join(sandbox.root, "scripts/run.sh"), ["services/two/src/main.ts"]);

    /** As npm's own list of what it installed. */
    const listed = `case "$*" in *omit*) echo {} ;; *) echo '"dev": true' ;; esac >node_modules/.package-lock.json`;

    beforeEach(() => {
      sandbox.write("services/two/src/main.ts", 'console.log("served");');
      npmThat(`mkdir -p node_modules/whole; ${listed}`);
    });

    test("installs no packages that only development needs; the first other program adds them, and they stay", async () => {
      expect(await service()).toEqual({ status: 0, out: "served\n", err: "installing packages (once)\n" });
      expect(await service()).toMatchObject({ status: 0, err: "" });
      expect(calls()).toEqual([small]);
      expect(await run()).toMatchObject({ status: 0, err: "installing packages (once)\n" });
      expect(await service()).toMatchObject({ status: 0, err: "" });
      sandbox.write("package-lock.json", '{"changed":true}\n');
      await service();
      expect(await run()).toMatchObject({ status: 0, err: "" });
      expect(calls()).toEqual([small, full, full]);
    });

    test("installs the fewer packages again when the lockfile changed", async () => {
      await service();
      sandbox.write("package-lock.json", '{"changed":true}\n');
      await service();
      expect(calls()).toEqual([small, small]);
    });

    test("removes nothing that somebody installed with npm", async () => {
      await service();
      sandbox.write("node_modules/.package-lock.json", '"dev": true');
      await service();
      await service();
      expect(calls()).toEqual([small, full]);
    });

    test("starts with what it has when the other packages could not be added, and nothing of them is kept", async () => {
      const packages = { "node_modules/whole": { version: "1.0.0" }, "node_modules/@x/tool": { version: "1.0.0", dev: true } };
      sandbox.write("package-lock.json", `${JSON.stringify({ packages }, null, 2)}\n`);
      await service();
      npmThat("mkdir -p node_modules/@x/tool/half; exit 1");
      expect(await run()).toMatchObject({ status: 1 });
      expect(await service()).toEqual({ status: 0, out: "served\n", err: "" });
      npmThat("echo node_modules/* node_modules/@x/* >&2; exit 1");
      const { err } = await run();
      expect(err).toContain("whole");
      expect(err).not.toContain("tool");
      npmThat(listed);
      await run();
      await run();
      expect(await service()).toMatchObject({ status: 0, err: "" });
      expect(calls()).toEqual([small, full, full, full]);
    });

    test("does not miss a package beside one of ours that only development needs", async () => {
      const packages = {
        "services/two": { version: "1.0.0" },
        "services/two/node_modules/three": { version: "1.0.0", dev: true },
      };
      sandbox.write("package-lock.json", `${JSON.stringify({ packages }, null, 2)}\n`);
      await service();
      expect(await service()).toMatchObject({ status: 0, err: "" });
      await run();
      expect(await run()).toMatchObject({ status: 0, err: "installing packages (once)\n" });
      expect(calls()).toEqual([small, full, full]);
    });
  });

  test("shows what npm said when it fails, and tries again at the next start", async () => {
    npmThat("echo no such package >&2; exit 1");
    const failed = await run();
    expect(failed.status).toBe(1);
    expect(failed.err).toContain("no such package");
    npmThat("mkdir -p node_modules/whole");
    expect((await run()).status).toBe(0);
  });

  test("keeps nothing of an install that was killed", async () => {
    npmThat("mkdir -p services/two/node_modules/half node_modules/half && echo started && sleep 20");
    const child = sandbox.start("sh", ["-c", 'scripts/run.sh program.ts & echo "$!"; wait']);
    const pid = await new Promise<number>((resolve) => child.stdout?.once("data", (text) => resolve(Number.parseInt(String(text), 10))));
    while (!existsSync(join(sandbox.root, "node_modules/half"))) await new Promise((resolve) => setTimeout(resolve, 20));
    process.kill(pid, "SIGKILL");
    npmThat("mkdir -p node_modules/whole");
    expect((await run()).status).toBe(0);
    const left = ["node_modules/half", "services/two/node_modules/half", "node_modules/whole"];
    expect(left.filter((path) => existsSync(join(sandbox.root, path)))).toEqual(["node_modules/whole"]);
  });

  test("two that start at once install once", async () => {
    npmThat("sleep 0.3; mkdir -p node_modules/whole");
    const both = await Promise.all([run(), run()]);
    expect(both.map(({ status }) => status)).toEqual([0, 0]);
    expect(calls()).toHaveLength(1);
  });

  test("becomes the program: its status is the program's", async () => {
    sandbox.write("program.ts", "process.exitCode = 7;");
    expect((await run()).status).toBe(7);
  });
});

describe("bin/netfacts", () => {
  beforeEach(() => sandbox.write("services/cli/src/main.ts", "console.log(process.argv.slice(2).join(), process.cwd());"));

  test("works from any folder", async () => {
    const { out } = await sandbox.run("sh", ["-c", `cd "${sandbox.home}" && ../clone/bin/netfacts keys list`]);
    expect(out).toBe(`keys,list ${sandbox.home}\n`);
  });

  test("works by a symbolic link", async () => {
    const { out } = await sandbox.run("sh", [
      "-c",
      'ln -s ../clone/bin/netfacts "$HOME/nf" && ln -s nf "$HOME/nf2" && cd / && "$HOME/nf2" --help',
    ]);
    expect(out).toBe("--help /\n");
  });

  test("works in a folder that is reached by a symbolic link", async () => {
    const { out } = await sandbox.run("sh", ["-c", 'ln -s ../clone/bin "$HOME/tools" && cd / && "$HOME/tools/netfacts" --help']);
    expect(out).toBe("--help /\n");
  });
});

describe("scripts/check-installed.ts", () => {
  /** @param beside  the version of the same that npm put beside a package of ours. */
  function installed(version: string | null, beside: string | null = "2.0.0"): Promise<Ended> {
    sandbox.write(
      "package-lock.json",
      JSON.stringify({
        packages: {
          "": {},
          "services/two": { version: "0.1.0" },
          "node_modules/one": { version: "1.0.0" },
          "node_modules/other-os": { version: "1.0.0", optional: true },
          "services/two/node_modules/one": { version: "2.0.0" },
        },
      }),
    );
    if (version !== null) sandbox.write("node_modules/one/package.json", JSON.stringify({ version }));
    if (beside !== null) sandbox.write("services/two/node_modules/one/package.json", JSON.stringify({ version: beside }));
    return sandbox.run("node", ["scripts/check-installed.ts"]);
  }

  test("passes when what is installed is what the lockfile names", async () => {
    expect(await installed("1.0.0")).toMatchObject({ status: 0, out: "" });
  });

  test("passes when a package writes its version with a v", async () => {
    expect(await installed("v1.0.0")).toMatchObject({ status: 0, out: "" });
  });

  test("refuses another version", async () => {
    const { status, out } = await installed("1.0.1");
    expect([status, out]).toEqual([1, "node_modules/one is 1.0.1, the lockfile says 1.0.0\nrun: npm install\n"]);
  });

  test("refuses a package that is absent", async () => {
    expect((await installed(null)).status).toBe(1);
  });

  test("refuses one that is absent beside a package of ours", async () => {
    const { status, out } = await installed("1.0.0", null);
    expect([status, out]).toEqual([1, "services/two/node_modules/one 2.0.0 is in the lockfile and not installed\nrun: npm install\n"]);
  });
});

describe("scripts/uninstall.sh", () => {
  beforeEach(() => {
    sandbox.write(".netfacts/store.sqlite", "");
    sandbox.write("node_modules/one/package.json", "{}");
    sandbox.write("libs/one/src/index.ts", "");
    // Where npm puts a version that another package does not want.
    sandbox.write("services/two/node_modules/three/package.json", "{}");
    writeFileSync(join(sandbox.home, "mine"), "");
  });

  test("removes nothing without an answer", async () => {
    const { status, out } = await sandbox.run(join(sandbox.root, "scripts/uninstall.sh"));
    expect(status).toBe(1);
    expect(out).toContain("nothing was removed");
    expect(existsSync(join(sandbox.root, ".netfacts"))).toBe(true);
  });

  test("removes nothing while the cluster of make test-cluster runs, and takes no other process for it", async () => {
    const pids = join(sandbox.home, ".cache/netfacts/cluster/pids");
    const uninstall = () => sandbox.run(join(sandbox.root, "scripts/uninstall.sh"), [], { YES: "1" });
    const startOf = readFileSync("/proc/self/stat", "utf8").replace(/.*\) /, "").split(" ")[19];
    mkdirSync(pids, { recursive: true });
    writeFileSync(join(pids, "node"), `${process.pid} ${startOf}\n`);
    const { status, out } = await uninstall();
    expect([status, out]).toEqual([1, expect.stringContaining("stop it first, with down.sh")]);
    expect(existsSync(join(sandbox.root, ".netfacts"))).toBe(true);
    writeFileSync(join(pids, "node"), `${process.pid} 1\n`);
    expect((await uninstall()).status).toBe(0);
    expect(existsSync(pids)).toBe(false);
  });

  test("removes nothing while Netfacts runs on its state, and takes no other process for it", async () => {
    const uninstall = () => sandbox.run(join(sandbox.root, "scripts/uninstall.sh"), [], { YES: "1" });
    const program = ["-e", "console.log(); setInterval(() => {}, 1_000)", "--", join(sandbox.root, "services/standalone/src/main.ts")];
    const running = spawn(process.execPath, program, { stdio: ["ignore", "pipe", "ignore"] });
    try {
      await once(running.stdout, "data");
      sandbox.write(".netfacts/owner.json", `${JSON.stringify({ pid: running.pid, url: "http://127.0.0.1:8080" })}\n`);
      const { status, out } = await uninstall();
      expect([status, out]).toEqual([1, expect.stringContaining(`(process ${running.pid}): stop it first`)]);
      expect(existsSync(join(sandbox.root, ".netfacts"))).toBe(true);
    } finally {
      running.kill("SIGKILL");
    }
    sandbox.write(".netfacts/owner.json", `${JSON.stringify({ pid: process.pid, url: "http://127.0.0.1:8080" })}\n`);
    expect((await uninstall()).status).toBe(0);
    expect(existsSync(join(sandbox.root, ".netfacts"))).toBe(false);
  });

  test("removes state, packages and downloads with YES=1, and nothing else", async () => {
    sandbox.program("node", "", join(sandbox.home, ".cache/netfacts/node/bin"));
    const { status, out } = await sandbox.run(join(sandbox.root, "scripts/uninstall.sh"), [], { YES: "1" });
    expect(status).toBe(0);
    const left = [
      ".netfacts",
      "node_modules",
      "services/two/node_modules",
      "libs/one/src/index.ts",
      "../home/.cache/netfacts",
      "../home/mine",
    ].filter((path) => existsSync(join(sandbox.root, path)));
    expect(left).toEqual(["libs/one/src/index.ts", "../home/mine"]);
    expect(out).toContain(".netfacts");
  });
});

test("scripts/clean.sh removes build output only", async () => {
  sandbox.write("libs/one/dist/index.js", "");
  sandbox.write("libs/one/src/index.ts", "");
  sandbox.write(".netfacts/store.sqlite", "");
  await sandbox.run(join(sandbox.root, "scripts/clean.sh"));
  const left = ["libs/one/dist", "libs/one/src/index.ts", ".netfacts/store.sqlite"].filter((path) => existsSync(join(sandbox.root, path)));
  expect(left).toEqual(["libs/one/src/index.ts", ".netfacts/store.sqlite"]);
});
