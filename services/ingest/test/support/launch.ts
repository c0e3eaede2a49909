/** Ingest processes of a test, each with an explicit environment, ended at the test's end by their own ids. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { internalHeaders } from "@netfacts/contracts";
import { compileCache } from "../../../../test/support/compile-cache.ts";
import type { HttpAnswer } from "./service.ts";
import { proxyToken } from "./service.ts";

export interface LaunchedProcess {
  readonly child: ChildProcess;
  /** The log so far, a line an object. */
  lines(): { readonly msg?: string; readonly [field: string]: unknown }[];
  /** Resolves with the line of this message, when it was written. The time only ends what hangs. */
  said(message: string, timeoutMs?: number): Promise<{ readonly [field: string]: unknown }>;
  /** SIGKILL or SIGTERM, and its end. @returns its status or signal */
  end(signal: "SIGKILL" | "SIGTERM"): Promise<number | string | null>;
}

export interface IngestProcess extends LaunchedProcess {
  /** Of the operator API. */
  readonly url: string;
  ask(method: string, path: string, headers?: Record<string, string>): Promise<HttpAnswer>;
}

const live = new Set<ChildProcess>();

export async function endAllProcesses(): Promise<void> {
  const ends = [...live].map((child) => once(child, "exit"));
  for (const child of live) child.kill("SIGKILL");
  await Promise.all(ends);
}

/** @param args  of Node. Resolves when the process says that it has started. */
export async function launchProcess(args: readonly string[], settings: Readonly<Record<string, string>>): Promise<LaunchedProcess> {
  const child = spawn(process.execPath, args, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...compileCache, PATH: process.env.PATH, NODE_NO_WARNINGS: "1", TELEMETRY_PORT: "0", ...settings },
  });
  live.add(child);
  child.once("exit", () => live.delete(child));
  let err = "";
  const listeners = new Set<() => void>();
  child.stdout?.resume();
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    err += text;
    for (const listener of listeners) listener();
  });
  const lines = () =>
    err
      .split("\n")
      .filter((line) => line.startsWith("{") && line.endsWith("}"))
      .map((line) => JSON.parse(line));
  const said: LaunchedProcess["said"] = (message, timeoutMs = 120_000) =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`did not say "${message}":\n${err}`)), timeoutMs).unref();
      const look = () => {
        const line = lines().find(({ msg }) => msg === message);
        if (line === undefined) return;
        clearTimeout(timer);
        listeners.delete(look);
        resolve(line);
      };
      listeners.add(look);
      child.once("exit", () => {
        look();
        reject(new Error(`ended before it said "${message}":\n${err}`));
      });
      look();
    });
  await said("started");
  return {
    child,
    lines,
    said,
    async end(signal) {
      const ended = once(child, "exit");
      child.kill(signal);
      const [code, by] = await ended;
      return code ?? by;
    },
  };
}

/** The same for a process of ingest: when its API listens. */
export async function launch(args: readonly string[], settings: Readonly<Record<string, string>>): Promise<IngestProcess> {
  const state = mkdtempSync(join(tmpdir(), "netfacts-ingest-state-"));
  const own = { INGEST_PORT: "0", INGEST_STATE_DIR: state, PROXY_TOKEN: proxyToken };
  const launched = await launchProcess(args, { ...own, ...settings });
  launched.child.once("exit", () => rmSync(state, { recursive: true, force: true }));
  const { url } = (await launched.said("operator API is listening")) as { url: string };
  return {
    ...launched,
    url,
    async ask(method, path, headers = {}) {
      const response = await fetch(url + path, { method, headers: { [internalHeaders.proxyToken]: proxyToken, ...headers } });
      const body = await response.text();
      return {
        status: response.status,
        headers: Object.fromEntries(response.headers),
        body,
        get json() {
          return JSON.parse(body);
        },
      };
    },
  };
}
