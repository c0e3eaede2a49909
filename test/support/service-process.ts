/** A service as a separate process, with the same ports at each start. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { compileCache } from "./compile-cache.ts";
import { forTests } from "./for-tests.ts";
import { programArgs } from "./programs.ts";

const root = resolve(import.meta.dirname, "../..");

export type ServiceName = "gateway-auth-quota" | "ip-routing" | "asn-prefix" | "rdns-resolver" | "ingest";

export interface ServiceProcessOptions {
  readonly service: ServiceName;
  /** Index among the processes of the service, from 0. */
  readonly index: number;
  /** Settings without ports and addresses, which are set here. */
  readonly env: Readonly<Record<string, string>>;
  readonly ports: ServicePorts;
  /** Called with each piece of its output. */
  readonly onOutput?: (text: string) => void;
  /** Called at its end, expected or not. */
  readonly onEnd?: (end: ServiceEnd) => void;
}

export interface ServicePorts {
  readonly http: number;
  readonly operations: number;
  readonly operator: number;
}

export interface ServiceEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

const readyMsMax = 150_000;
const stopMsMax = 20_000;

export class ServiceProcess {
  readonly service: ServiceName;
  readonly index: number;
  /** `ip-routing-0`, which is also the name of the pod. */
  readonly name: string;
  /** URL for requests. A service that is reached only over NATS does not listen there. */
  readonly url: string;
  /** URL of `/metrics`, `/healthz` and `/readyz`. */
  readonly operationsUrl: string;
  /** URL of a gateway's operator listener, with `/admin/v1`. */
  readonly operatorUrl: string;
  readonly #options: ServiceProcessOptions;
  #child: ChildProcess | null = null;
  #log = "";

  constructor(options: ServiceProcessOptions) {
    this.#options = options;
    this.service = options.service;
    this.index = options.index;
    this.name = `${options.service}-${options.index}`;
    this.url = `http://127.0.0.1:${options.ports.http}`;
    this.operationsUrl = `http://127.0.0.1:${options.ports.operations}`;
    this.operatorUrl = `http://127.0.0.1:${options.ports.operator}`;
  }

  /** Id of the running process; null: none runs. */
  get pid(): number | null {
    return this.running ? (this.#child?.pid ?? null) : null;
  }

  get running(): boolean {
    return this.#child !== null && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** End of the last process; null while one runs, and before the first. */
  get ended(): ServiceEnd | null {
    return this.#child === null || this.running ? null : { code: this.#child.exitCode, signal: this.#child.signalCode };
  }

  /** Its output since the first start. */
  log(): string {
    return this.#log;
  }

  /** Starts the process without waiting for it. */
  launch(): void {
    if (this.running) throw new Error(`${this.name} runs already`);
    const { service, env, ports, onOutput, onEnd } = this.#options;
    const own = {
      HOST: "127.0.0.1",
      PORT: `${ports.http}`,
      INGEST_PORT: `${ports.http}`,
      OPERATOR_PORT: `${ports.operator}`,
      TELEMETRY_PORT: `${ports.operations}`,
      POD_NAME: this.name,
      // No load balancer must notice a stop.
      DRAIN_SECONDS: "0",
      ...forTests,
    };
    const child = spawn(process.execPath, programArgs(service), {
      cwd: root,
      stdio: ["ignore", "pipe", "pipe"],
      env: { NODE_NO_WARNINGS: "1", PATH: process.env.PATH, HOME: process.env.HOME, ...compileCache, ...own, ...env },
    });
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        this.#log += text;
        onOutput?.(text);
      });
    }
    // The event `close` follows.
    child.once("error", (error) => {
      this.#log += `${error.message}\n`;
    });
    child.once("close", (code, signal) => onEnd?.({ code, signal }));
  }

  /** Resolves when `/readyz` (or `/healthz`) answers 200. Rejects with its log if it ends before, or is not ready in time. */
  async untilReady(path: "/readyz" | "/healthz" = "/readyz", signal?: AbortSignal): Promise<void> {
    const began = performance.now();
    for (;;) {
      signal?.throwIfAborted();
      if (!this.running) throw new Error(`${this.name} ended before it was ready:\n${this.#log}`);
      const answer = await fetch(`${this.operationsUrl}${path}`, { signal: AbortSignal.timeout(1_000) }).catch(() => null);
      await answer?.body?.cancel();
      if (answer?.ok) return;
      if (performance.now() - began > readyMsMax) throw new Error(`${this.name} was not ready within ${readyMsMax} ms:\n${this.#log}`);
      // Rarely in a long start, where each of many processes is asked. None is ready in the first moments, and each answer takes from its start.
      await sleep(Math.min(200, Math.max(50, (performance.now() - began) / 10)));
    }
  }

  /** Sends a signal without waiting: SIGSTOP and SIGCONT, or a signal whose effect the caller watches. */
  signal(signal: NodeJS.Signals): void {
    if (this.running) this.#child?.kill(signal);
  }

  /** Ends it, frozen or not; after a time by SIGKILL. Does nothing if it does not run. */
  async end(signal: NodeJS.Signals = "SIGTERM"): Promise<ServiceEnd> {
    const child = this.#child;
    if (child === null) return { code: null, signal: null };
    if (this.running) {
      const ended = once(child, "exit");
      child.kill(signal);
      // A frozen process handles a signal only after it has been resumed.
      child.kill("SIGCONT");
      const timer = setTimeout(() => child.kill("SIGKILL"), stopMsMax);
      await ended;
      clearTimeout(timer);
    }
    return { code: child.exitCode, signal: child.signalCode };
  }
}
