/** The script of the guide "Watch an AS", against a server whose transfer breaks. */

import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { codeBlocks } from "../../scripts/docs-site/code-blocks.ts";

const root = resolve(import.meta.dirname, "../..");
const script = codeBlocks(root).find(({ page, text }) => page === "docs/guides/watch-an-as.md" && text.includes("cat > watch-as.sh"));

const before = "prefix,rpki_state\n192.0.2.0/24,valid\n";
const after = `${before}198.51.100.0/24,invalid\n`;

let folder: string;
let server: Server;
/** What the server has, and whether it breaks the transfer. */
let now = { list: before, breaks: false };
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "netfacts-watch-"));
  server = createServer((request, response) => {
    const tag = `"${now.list.length}"`;
    if (request.headers["if-none-match"] === tag) return response.writeHead(304, { etag: tag }).end();
    response.writeHead(200, { etag: tag, "content-length": now.list.length });
    if (!now.breaks) return response.end(now.list);
    return response.write(now.list.slice(0, 20), () => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  await run(script?.text ?? "");
});
afterEach(async () => {
  await new Promise((resolve) => server.close(resolve));
  rmSync(folder, { recursive: true });
});

function run(text: string): Promise<{ status: number | string; out: string }> {
  const { port } = server.address() as AddressInfo;
  const env = { ...process.env, NETFACTS_URL: `http://127.0.0.1:${port}`, NETFACTS_KEY: "none" };
  return new Promise((resolve) =>
    execFile("sh", ["-c", text], { cwd: folder, env }, (error, out) =>
      resolve({ status: error === null ? 0 : (error.code ?? "signal"), out }),
    ),
  );
}

test("reports a change whose transfer broke in the next run", async () => {
  const watch = () => run("sh watch-as.sh AS64500");
  now = { list: before, breaks: false };
  expect(await watch()).toEqual({ status: 0, out: "" });
  now = { list: after, breaks: true };
  expect((await watch()).status).toBe(2);
  now = { list: after, breaks: false };
  expect(await watch()).toEqual({ status: 1, out: expect.stringContaining("> 198.51.100.0/24,invalid") });
  expect(await watch()).toEqual({ status: 0, out: "" });
});
