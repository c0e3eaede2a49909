/** The operator API: starting a run, runs and their reports, the health of sources. The gateway documents it, and forwards its requests. */

import { type IngestRuns, type IngestSources, ingestPath, internalHeaders, ProblemError, RunRequest } from "@netfacts/contracts";
import { type Manifest, type SectionName, type SnapshotStore, sectionNames } from "@netfacts/snapshot";
import type { RunRecord, Store } from "@netfacts/storage";
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods, RouteHandlerMethod } from "fastify";
import { Check } from "typebox/value";
import { LeadershipLostError } from "../leadership/leadership.ts";
import { RunInProgressError, type RunManager } from "../runs/run-manager.ts";
import { runRecord, runSummary } from "../runs/run-record.ts";
import { sourceHealth } from "../runs/source-health.ts";
import type { Lead } from "../schedule/lead.ts";
import { readSources, type SourcesConfig, SourcesFileError } from "../sources/index.ts";
import { sha256Of } from "../updates/update-files.ts";
import { Query, readLimit } from "./query.ts";

export interface OperatorRoutesDeps {
  readonly store: Pick<Store, "runs">;
  /** Path of the sources.yaml; empty: there is none. */
  readonly sources: string;
  /** File of the operator's overrides; it may be absent. */
  readonly overrides: string;
  readonly clock: { now(): number };
  readonly snapshots: Pick<SnapshotStore, "currentId" | "getManifest">;
  /** The runs of this process; null while it does not lead. */
  runs(): RunManager | null;
  /** The schedule of this process; null while it does not lead. */
  lead(): Pick<Lead, "scheduleOf"> | null;
  /** Forwards the request to the leader, and sends its response. */
  forwardToLeader(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply>;
}

/** Number of the last runs that the health of sources is read from. */
const healthRunsMax = 100;

type Methods = Partial<Record<"GET" | "POST" | "DELETE", RouteHandlerMethod>>;

export function installOperatorRoutes(app: FastifyInstance, deps: OperatorRoutesDeps): void {
  const { store, clock } = deps;

  route(app, "/runs", {
    async GET(request, reply) {
      const limit = readLimit(request);
      const body: IngestRuns = { items: (await store.runs.list(limit, clock.now())).map(runSummary) };
      return sendJson(reply, body);
    },

    async POST(request, reply) {
      new Query(request, []).refuseFaults();
      const acceptShrink = readBody(request);
      const runs = deps.runs();
      if (runs === null) return deps.forwardToLeader(request, reply);
      const run = await runs.start(starterOf(request), acceptShrink).catch((error: unknown) => {
        throw startProblem(error);
      });
      return sendStarted(reply, run);
    },
  });

  route(app, "/runs/:id", {
    async GET(request, reply) {
      new Query(request, []).refuseFaults();
      const run = await store.runs.find((request.params as { readonly id: string }).id);
      if (run === null) throw new ProblemError("run_not_found");
      const runs = deps.runs();
      // Only the leader knows the progress.
      if (run.state === "running" && runs === null) {
        const answered = await forwarded(request, reply, deps.forwardToLeader);
        if (answered !== null) return answered;
      }
      return sendJson(reply, runRecord(run, run.state === "running" ? runs?.progressOf(run.id) : null));
    },
  });

  route(app, "/sources", {
    async GET(request, reply) {
      new Query(request, []).refuseFaults();
      const lead = deps.lead();
      // The leader knows when each source is due. Without a leader, the reports of runs are all that is known.
      if (lead === null) {
        const answered = await forwarded(request, reply, deps.forwardToLeader);
        if (answered !== null) return answered;
      }
      const { config, faults, sha256 } = await listOfSources(deps.sources, deps.overrides);
      const sources = config?.sources ?? [];
      const known = {
        runs: config === null ? [] : await store.runs.list(healthRunsMax, clock.now()),
        manifest: await currentManifest(deps.snapshots),
        schedule: lead === null ? null : await lead.scheduleOf(sources),
      };
      const body: IngestSources = { items: sourceHealth(sources, known, clock.now()), faults, list_sha256: sha256 };
      return sendJson(reply, body);
    },
  });
}

/** The leader's response; null if it cannot be reached. */
export async function forwarded(
  request: FastifyRequest,
  reply: FastifyReply,
  forwardToLeader: OperatorRoutesDeps["forwardToLeader"],
): Promise<FastifyReply | null> {
  return forwardToLeader(request, reply).catch((error: unknown) => {
    if (error instanceof ProblemError) return null;
    throw error;
  });
}

/** Installs the route with its methods under `ingestPath`. Any other method is refused with a list of these. */
export function route(app: FastifyInstance, path: string, methods: Methods): void {
  const url = ingestPath + path;
  const allowed = Object.keys(methods).flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]));
  for (const [method, handler] of Object.entries(methods)) app.route({ method: method as HTTPMethods, url, handler });
  app.route({
    method: app.supportedMethods.filter((method) => !allowed.includes(method)) as HTTPMethods[],
    url,
    onRequest: async () => {
      const list = allowed.join(", ");
      throw new ProblemError("method_not_allowed", { detail: `This route supports ${list}.`, headers: { allow: list } });
    },
    handler: async () => undefined,
  });
}

export function sendJson(reply: FastifyReply, body: unknown): FastifyReply {
  return sendText(reply, JSON.stringify(body));
}

/** @param json  serialised already */
export function sendText(reply: FastifyReply, json: string): FastifyReply {
  return reply.headers({ "content-type": "application/json; charset=utf-8", "cache-control": "no-store" }).send(json);
}

export function sendStarted(reply: FastifyReply, run: RunRecord): FastifyReply {
  return sendJson(reply.code(202).header("location", `${ingestPath}/runs/${run.id}`), runRecord(run));
}

/**
 * Reads the body of a request to start a run. Files of the operator decide what is imported, so that an empty object means the same as no body.
 * @returns sections that may shrink this time
 */
function readBody({ body }: FastifyRequest): readonly SectionName[] {
  const given = body === undefined ? {} : body;
  if (Check(RunRequest, given)) return given.accept_shrink ?? [];
  throw new ProblemError("invalid_body", {
    detail: `A run has no body, or {"accept_shrink": […]} with section names: ${sectionNames.join(", ")}. The sources are set by SOURCES.`,
  });
}

export function starterOf(request: FastifyRequest) {
  const keyId = textOf(request.headers[internalHeaders.keyId]);
  return { actor: keyId === null ? "operator" : `key:${keyId}`, keyId, address: textOf(request.headers["x-forwarded-for"]) };
}

/** A header of the gateway. It is trusted, but its length is limited, because it is stored. */
function textOf(header: string | string[] | undefined): string | null {
  return typeof header === "string" ? header.slice(0, 64) : null;
}

export function startProblem(error: unknown): unknown {
  if (error instanceof RunInProgressError) {
    const detail =
      error.runId === null
        ? "Ingest is taking over from another process, or a run is just starting. Repeat the request in a few seconds."
        : `Run ${error.runId} is in progress. Wait until it has ended, then repeat the request.`;
    return new ProblemError("run_in_progress", { detail });
  }
  return error instanceof LeadershipLostError ? noLeader() : error;
}

/** There is no leader at the moment, or it cannot be reached. */
export function noLeader(cause?: unknown): ProblemError {
  const detail = "No ingest process is the leader at the moment; another one takes over within seconds.";
  return new ProblemError("upstream_unavailable", { detail, ...(cause !== undefined && { cause }) });
}

/** Null if there is no manifest, or if it is unavailable: the reports of runs have most of the information. */
async function currentManifest(snapshots: OperatorRoutesDeps["snapshots"]): Promise<Manifest | null> {
  try {
    const id = await snapshots.currentId();
    return id === null ? null : await snapshots.getManifest(id);
  } catch {
    return null;
  }
}

/** The current list; its digest is null if there is no file. */
async function listOfSources(
  path: string,
  overrides: string,
): Promise<{ config: SourcesConfig | null; faults: string[]; sha256: string | null }> {
  if (path === "") return { config: null, faults: ["SOURCES does not name a sources.yaml"], sha256: null };
  const sha256 = await sha256Of(path).catch(() => null);
  try {
    return { config: await readSources(path, { files: "later", overrides }), faults: [], sha256 };
  } catch (error) {
    if (error instanceof SourcesFileError) return { config: null, faults: error.message.split("\n"), sha256 };
    throw error;
  }
}
