/** `POST /batch`: key, limits and form as for any request, then many questions side by side. */

import type { ServerResponse } from "node:http";
import { contentTypes, errors, ProblemError } from "@netfacts/contracts";
import type { FastifyReply, FastifyRequest } from "fastify";
import { permitBody } from "../../edge/body-permission.ts";
import type { CallerTurns } from "../../edge/caller-turns.ts";
import type { Coding, Compressor } from "../../edge/compression.ts";
import { echoPath } from "../../edge/echo.ts";
import type { Guard, Pass } from "../../edge/guard.ts";
import type { RequestLog } from "../../edge/observe.ts";
import type { Limiter } from "../../limits/index.ts";
import type { GatewayMetrics } from "../../metrics.ts";
import { contextOf, type Dispatcher } from "../dispatcher.ts";
import { vary } from "../lookup-route.ts";
import { AskGate } from "./ask-gate.ts";
import { BatchAsker } from "./asker.ts";
import { endAfter, hangUp, whenClosed } from "./batch-end.ts";
import { BatchRun } from "./batch-run.ts";
import { BodySource, ClientGoneError } from "./body-source.ts";
import { type Form, type Format, readForm } from "./form.ts";
import { HeldKey } from "./held-key.ts";
import type { Item } from "./item-reader.ts";
import { type Line, LineSplitter } from "./lines.ts";
import { MonthUnits } from "./month-units.ts";
import { PaidLines, reserveLines } from "./paid-lines.ts";
import { BatchPlaces } from "./places.ts";
import { ProgressWatch } from "./progress-watch.ts";
import { bodyBytesMax, bodyTooLarge, readDocument, readLine, readLines } from "./questions.ts";
import { RateUnits, refusals, refusedOfUnit, unitsOf, unitsOfUnread } from "./rate-units.ts";
import { ResultTexts } from "./result-texts.ts";

export interface BatchSettings {
  /** Time for a body that is read as a whole to arrive. */
  readonly requestTimeoutMs: number;
  /** Period of waiting for the client, in each of which it must send `itemsMin` items or read as many KiB. */
  readonly idleMs: number;
  readonly itemsMin: number;
  /** Longest time of a batch of lines. */
  readonly streamMsMax: number;
  /** Time for all items of a batch that is one document. */
  readonly documentMs: number;
  /** Batches at the same time. Each key is sure of a quarter of them: if none is free, a batch of another key ends. */
  readonly batchesMax: number;
}

export interface BatchDeps {
  readonly guard: Guard;
  readonly limiter: Limiter;
  readonly dispatcher: Dispatcher;
  readonly compressor: Compressor;
  readonly turns: CallerTurns;
  readonly metrics: GatewayMetrics;
  readonly log: RequestLog;
  readonly clock: { now(): number };
  readonly errorDocsBase: string;
  readonly settings: BatchSettings;
}

/** A batch whose body is being read. */
interface OpenBatch {
  readonly pass: Pass;
  readonly source: BodySource;
  readonly units: MonthUnits;
  readonly rate: RateUnits;
  readonly held: HeldKey;
  /** Call when the answer begins. */
  readonly begun: (run: BatchRun) => void;
}

interface AnswerForm {
  readonly format: Format;
  /** When the questions must have been answered, on the clock of `performance.now()`; infinite for a stream of lines. */
  readonly endsAt: number;
}

/** Longest time that a stop waits for questions under way. */
const stopMsMax = 5_000;
/** Longest time after that for clients to read the end of their answer. */
const stopReadMs = 1_000;
/** A batch whose place was taken back is cut off after this, if its client does not read the end. */
const takenBackMs = 5_000;

export class Batches {
  readonly #deps: BatchDeps;
  readonly #gate = new AskGate();
  readonly #places: BatchPlaces;
  /** Bodies that are being read. */
  readonly #sources = new Set<BodySource>();
  /** Answers that have begun. */
  readonly #runs = new Map<ServerResponse, BatchRun>();
  /** Batches whose units are not settled yet. */
  #open = 0;
  #stopping = false;
  #onAllSettled: (() => void) | null = null;

  constructor(deps: BatchDeps) {
    this.#deps = deps;
    this.#places = new BatchPlaces(deps.settings.batchesMax, deps.metrics);
  }

  /** The route's handler. The body must not have been read. */
  readonly handle = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    this.#open += 1;
    try {
      const pass = settledOnce(await this.#deps.guard.admit(request, reply, "batch", 0));
      try {
        return await this.#answerTo(pass, request, reply);
      } finally {
        pass.settle(false);
      }
    } finally {
      this.#open -= 1;
      if (this.#open === 0) this.#onAllSettled?.();
    }
  };

  async #answerTo(pass: Pass, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const form = readForm(request);
    const place = this.#places.take(pass.key);
    // The place is free when the response closes, however the batch ends.
    whenClosed(reply.raw, place.free);
    const source = new BodySource(request.raw, form.encoding);
    this.#sources.add(source);
    if (this.#stopping) source.fail(new ProblemError("shutting_down"));
    const units = new MonthUnits(pass);
    let run: BatchRun | null = null;
    const isStream = form.asked === "ndjson" && form.answered === "ndjson";
    const held = new HeldKey(pass, {
      changed() {
        // A document has paid for all of its items.
        if (isStream) units.limitsChanged();
      },
      withdrawn(problem) {
        source.fail(problem);
        run?.refuse(problem);
      },
    });
    whenClosed(reply.raw, held.release);
    place.takeBack = (problem) => {
      held.withdraw(problem);
      const cut = setTimeout(() => reply.raw.destroy(), takenBackMs).unref();
      whenClosed(reply.raw, () => clearTimeout(cut));
    };
    const open: OpenBatch = {
      pass,
      source,
      units,
      rate: new RateUnits(pass),
      held,
      begun(started) {
        run = started;
        if (held.withdrawnBy !== null) started.refuse(held.withdrawnBy);
      },
    };
    try {
      return await (isStream ? this.#answerLines(request, reply, open, form) : this.#answerDocument(request, reply, open, form));
    } catch (error) {
      this.#letGo(source);
      held.release();
      place.free();
      // Nobody is there to be told; the connection has ended.
      throw error instanceof ClientGoneError ? new ProblemError("bad_request", { detail: error.message }) : error;
    }
  }

  /**
   * Stops reading bodies, and tells callers. Items without an answer after 5 s get a problem and cost nothing. A client that does not read that is cut
   * off 1 s later. Resolves when the units of all batches are settled.
   */
  async stop(): Promise<void> {
    this.#stopping = true;
    const problem = new ProblemError("shutting_down");
    for (const source of this.#sources) source.fail(problem);
    const refusing = setTimeout(() => {
      for (const run of this.#runs.values()) run.refuse(problem);
    }, stopMsMax);
    const cutting = setTimeout(() => {
      for (const response of this.#runs.keys()) response.destroy();
    }, stopMsMax + stopReadMs);
    if (this.#open > 0)
      await new Promise<void>((resolve) => {
        this.#onAllSettled = resolve;
      });
    clearTimeout(refusing);
    clearTimeout(cutting);
  }

  #letGo(source: BodySource): void {
    source.release();
    this.#sources.delete(source);
  }

  /** Everything is read, and paid for, before the first question is asked. */
  async #answerDocument(request: FastifyRequest, reply: FastifyReply, open: OpenBatch, form: Form): Promise<FastifyReply> {
    const { units, held } = open;
    const items = (await this.#readItems(request, reply, open, form)).map(held.admit);
    await payItems(items, open);
    const endsAt = performance.now() + this.#deps.settings.documentMs;
    return this.#answer(request, reply, open, { format: form.answered, endsAt }, async (run) => {
      for (const item of items) {
        await run.room();
        if ("op" in item) units.spend();
        run.put(item);
      }
      return held.withdrawnBy;
    });
  }

  /** All items of the body. If the body is at fault, the caller pays for what was read of it. */
  async #readItems(request: FastifyRequest, reply: FastifyReply, { pass, source, rate }: OpenBatch, form: Form): Promise<Item[]> {
    if (Number(request.headers["content-length"] ?? 0) > bodyBytesMax) throw bodyTooLarge();
    permitBody(request.raw, reply.raw);
    const { settings, turns } = this.#deps;
    const late = setTimeout(() => source.fail(new ProblemError("request_timeout")), settings.requestTimeoutMs);
    const read = form.asked === "json" ? readDocument : readLines;
    let length = 0;
    try {
      return await read(source, {
        meta: form.meta,
        nextTurn: () => turns.next(pass.key.bucket, source),
        onRead: (more) => {
          length += more;
        },
      });
    } catch (error) {
      const isOfCaller = error instanceof ProblemError && errors[error.code].status < 500;
      if (isOfCaller) await rate.payUnread(unitsOfUnread(length));
      throw error;
    } finally {
      clearTimeout(late);
    }
  }

  /** Lines are read no faster than answers are; units are reserved as they are needed, the first before the answer begins. */
  async #answerLines(request: FastifyRequest, reply: FastifyReply, open: OpenBatch, form: Form): Promise<FastifyReply> {
    const { pass, source, units, rate, held } = open;
    await payFirst(pass, () => units.reserve(reserveLines, 1));
    permitBody(request.raw, reply.raw);
    return this.#answer(request, reply, open, { format: "ndjson", endsAt: Number.POSITIVE_INFINITY }, async (run, watch) => {
      const paid = new PaidLines(units, rate, run);
      const take = (line: Line): Promise<void> | null => {
        watch.item();
        return paid.put(held.admit(readLine(line, form.meta)));
      };
      const lines = new LineSplitter();
      const { turns } = this.#deps;
      const { bucket } = pass.key;
      try {
        for (let piece = await source.next(); piece !== null; piece = await source.next()) {
          for (const line of lines.push(piece)) {
            const turn = turns.next(bucket, source);
            if (turn !== null) await turn;
            if (run.isStopped) throw new ClientGoneError("the client disconnected");
            const late = take(line);
            if (late !== null) await late;
          }
        }
        const last = lines.end();
        if (last !== null) await take(last);
        return null;
      } catch (error) {
        if (error instanceof ProblemError) return error;
        throw error;
      }
    });
  }

  /**
   * Sends the answer from its head to its end.
   *
   * @param ask  puts all questions; resolves with the problem for which it left some unread, or null.
   */
  async #answer(
    request: FastifyRequest,
    reply: FastifyReply,
    open: OpenBatch,
    { format, endsAt }: AnswerForm,
    ask: (run: BatchRun, watch: ProgressWatch) => Promise<ProblemError | null>,
  ): Promise<FastifyReply> {
    const { source, units, held } = open;
    const response = reply.raw;
    const coding = this.#sendHead(request, reply, open.pass, format);
    const { run, watch, texts, asker } = this.#startRun(request, response, open, { format, endsAt, coding });
    try {
      const unread = await ask(run, watch);
      await run.drained();
      const problem = held.withdrawnBy ?? unread;
      const { count, failedCount } = run;
      const tail = texts.tail(format, { count, failedCount, snapshots: asker.snapshots, problem }, this.#deps.clock.now());
      if (problem === null) run.end(tail);
      else {
        run.tell(tail);
        this.#letGo(source);
        await hangUp(request, response, run);
      }
    } catch (error) {
      if (!(error instanceof ClientGoneError)) {
        this.#deps.log.error({ request_id: request.id, err: error }, "batch failed");
        response.destroy();
      }
    } finally {
      this.#letGo(source);
      held.release();
      units.close();
    }
    return reply;
  }

  /** @returns how the body is compressed; null: not at all. */
  #sendHead(request: FastifyRequest, reply: FastifyReply, pass: Pass, format: Format): Coding | null {
    const { compressor, limiter } = this.#deps;
    const coding = compressor.codingOf(request.headers["accept-encoding"]);
    reply.headers({ ...limiter.headers(pass.key), "content-type": contentTypes[format], "cache-control": "no-store", vary });
    if (coding !== null) reply.header("content-encoding", coding);
    // From here on the answer is written by hand: its memory is ours, and it may go on for hours.
    reply.hijack();
    reply.raw.writeHead(200, reply.getHeaders() as Record<string, string>);
    reply.raw.flushHeaders();
    return coding;
  }

  /** Prepares everything that asks questions and writes results, and what ends it when the client goes away or is too slow. */
  #startRun(
    request: FastifyRequest,
    response: ServerResponse,
    { pass, source, units, rate, begun }: OpenBatch,
    { format, endsAt, coding }: AnswerForm & { readonly coding: Coding | null },
  ): { readonly run: BatchRun; readonly watch: ProgressWatch; readonly texts: ResultTexts; readonly asker: BatchAsker } {
    const { dispatcher, errorDocsBase, metrics, settings, turns } = this.#deps;
    const isStream = endsAt === Number.POSITIVE_INFINITY;
    const texts = new ResultTexts({ instance: echoPath(request.url), requestId: request.id, errorDocsBase });
    const asker = new BatchAsker({
      dispatcher,
      gate: this.#gate,
      holder: pass.key.bucket,
      context: contextOf(request, pass.key),
      mayChangeSnapshot: isStream,
      endsAt,
    });
    const run = new BatchRun({
      response,
      format,
      coding,
      texts,
      asker,
      turns,
      onWritten: (item, outcome) => {
        const problem = outcome instanceof ProblemError ? outcome : null;
        const counted = !(outcome instanceof ProblemError) && outcome.counted;
        if ("op" in item) {
          units.settle(counted);
          rate.settle(item, problem);
        }
        metrics.batchItems("op" in item ? item.op : "none", counted ? "answered" : "failed").inc();
      },
    });
    const { socket } = request.raw;
    const watch = new ProgressWatch({
      periodMs: settings.idleMs,
      stepsMin: settings.itemsMin,
      isClientsTurn: () => run.waitsForClient,
      takenBytes: () => socket.bytesWritten - socket.writableLength,
      // A client that does not read cannot be told anything.
      onStall: () => (run.isUnread ? response.destroy() : source.fail(new ProblemError("request_timeout"))),
    });
    const lifetime = isStream ? endAfter(settings.streamMsMax, source, response) : undefined;
    begun(run);
    this.#runs.set(response, run);
    whenClosed(response, () => {
      this.#runs.delete(response);
      watch.stop();
      clearTimeout(lifetime);
      if (response.writableFinished) return;
      const asked = run.stop();
      units.keep(asked.size);
      rate.abandon(asked);
      source.fail(new ClientGoneError("the client disconnected"));
    });
    return { run, watch, texts, asker };
  }
}

/** Takes the units of all items of a document. */
async function payItems(items: readonly Item[], { pass, units, rate }: OpenBatch): Promise<void> {
  const valid = items.reduce((count, item) => count + ("op" in item ? 1 : 0), 0);
  const refused = Math.floor(items.reduce((count, item) => count + refusals(item), 0) / refusedOfUnit);
  // Paid separately: refusing items was work, even if a limit refuses the rest.
  await rate.payRefusals(refused, unitsOf(items));
  const take = async (): Promise<void> => {
    await rate.pay(items, refused);
    await units.reserve(valid, valid);
  };
  await (refused > 0 ? payFirst(pass, take, () => rate.abandon()) : payFirst(pass, take));
}

/**
 * Takes the units before the first question is asked. If there are too few, `undo` returns what was taken: by default everything, so that the refused
 * request costs no rate.
 */
async function payFirst(pass: Pass, take: () => Promise<void>, undo = () => pass.withdraw()): Promise<void> {
  try {
    await take();
  } catch (error) {
    undo();
    throw error;
  }
  pass.settle(false);
}

/** A pass of which only the first `settle` or `withdraw` counts. */
function settledOnce(pass: Pass): Pass {
  let settled = false;
  const once = (tell: () => void): void => {
    if (!settled) tell();
    settled = true;
  };
  return { ...pass, settle: (answered) => once(() => pass.settle(answered)), withdraw: () => once(() => pass.withdraw()) };
}
