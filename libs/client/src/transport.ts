/** One request and its response: timeouts, problems, and retries. */

import type { Problem } from "@netfacts/contracts";
import { NetfactsProblem, NetfactsUnreachable } from "./errors.ts";
import { type Limits, limitsOf } from "./limits.ts";
import type { Settings } from "./options.ts";
import { retryAfterSecondsOf, retryDelayMs } from "./retry.ts";

export interface Call {
  /** Path and query, from the root of the API. */
  readonly path: string;
  readonly accept: string;
  readonly body?: { readonly type: string; readonly text: string };
  /** Cancels the request and its waits; its reason is thrown. */
  readonly signal?: AbortSignal | undefined;
}

/** The response of one try, with its timeout still running. */
export interface Answer {
  readonly response: Response;
  /** Restarts the timeout, because a piece has arrived. */
  alive(): void;
}

export class Transport {
  readonly #settings: Settings;
  #limits: Limits | null = null;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  /** Limits of the key, from the last response. */
  get limits(): Limits | null {
    return this.#limits;
  }

  /**
   * Sends the request until it succeeds or there is no further try. `read` is part of each try.
   *
   * @throws NetfactsProblem, NetfactsUnreachable, or the reason of the signal.
   */
  async ask<T>(call: Call, read: (answer: Answer) => Promise<T>): Promise<T> {
    const { attemptsMax, waitMsMax } = this.#settings;
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#try(call, read);
      } catch (failure) {
        call.signal?.throwIfAborted();
        const delay = attempt < attemptsMax ? retryDelayMs(failure, attempt, waitMsMax, Math.random()) : null;
        if (delay === null) throw failure;
        await sleep(delay, call.signal);
      }
    }
  }

  async #try<T>({ path, accept, body, signal }: Call, read: (answer: Answer) => Promise<T>): Promise<T> {
    const { base, key, timeoutMs, fetch } = this.#settings;
    const bound = new AbortController();
    const expire = () => bound.abort(new NetfactsUnreachable(`no response within ${timeoutMs} ms`));
    let timer = setTimeout(expire, timeoutMs);
    const alive = () => {
      clearTimeout(timer);
      timer = setTimeout(expire, timeoutMs);
    };
    try {
      const response = await fetch(base + path, {
        method: body === undefined ? "GET" : "POST",
        headers: {
          accept,
          ...(key !== null && { authorization: `Bearer ${key}` }),
          ...(body !== undefined && { "content-type": body.type }),
        },
        ...(body !== undefined && { body: body.text }),
        signal: signal === undefined ? bound.signal : AbortSignal.any([signal, bound.signal]),
      });
      const limits = limitsOf(response.headers);
      this.#limits = limits ?? this.#limits;
      if (!response.ok) throw await failureOf(response, limits);
      return await read({ response, alive });
    } catch (failure) {
      if (failure instanceof NetfactsProblem || failure instanceof NetfactsUnreachable) throw failure;
      signal?.throwIfAborted();
      throw new NetfactsUnreachable("the server cannot be reached, or its response was interrupted", { cause: failure });
    } finally {
      clearTimeout(timer);
    }
  }
}

/** A proxy may respond in its own form. */
async function failureOf(response: Response, limits: Limits | null): Promise<NetfactsProblem | NetfactsUnreachable> {
  const { status, headers } = response;
  const text = await response.text();
  const seconds = retryAfterSecondsOf(headers);
  if (headers.get("content-type")?.startsWith("application/problem+json")) {
    const problem = parseProblem(text);
    if (problem !== null) return new NetfactsProblem(seconds === null ? problem : { ...problem, retry_after_seconds: seconds }, limits);
  }
  return new NetfactsUnreachable(`the response with status ${status} is not from Netfacts`, { status, retryAfterSeconds: seconds });
}

function parseProblem(text: string): Problem | null {
  try {
    const value = JSON.parse(text) as Partial<Problem> | null;
    return typeof value?.code === "string" && typeof value.status === "number" ? (value as Problem) : null;
  } catch {
    return null;
  }
}

function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", end);
      resolve();
    }, ms);
    signal?.addEventListener("abort", end, { once: true });
  });
}
