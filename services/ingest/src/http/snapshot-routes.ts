/** The operator API of kept snapshots: those in the store, the one in service, the reports of pods to the leader, and rollbacks. */

import { type KeptSnapshot, type KeptSnapshots, type PodReport, ProblemError, RollbackRequest } from "@netfacts/contracts";
import {
  type Manifest,
  type SectionEntry,
  type SectionName,
  type SnapshotPointer,
  type SnapshotStore,
  SnapshotUnavailableError,
  type StoreSource,
  sectionNames,
} from "@netfacts/snapshot";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { Check } from "typebox/value";
import { Comparisons } from "../compare/compare.ts";
import type { RunManager } from "../runs/run-manager.ts";
import { forwarded, type OperatorRoutesDeps, route, sendJson, sendStarted, sendText, starterOf, startProblem } from "./operator-routes.ts";
import { Query } from "./query.ts";

export interface SnapshotRoutesDeps extends Pick<OperatorRoutesDeps, "forwardToLeader"> {
  readonly snapshots: Pick<SnapshotStore, "list" | "pointer" | "getManifest">;
  /** How a thread opens the same store. */
  readonly source: StoreSource;
  /** Reports of pods to this process; null: it does not lead. */
  pods(): readonly PodReport[] | null;
  /** The runs of this process; null while it does not lead. */
  runs(): Pick<RunManager, "rollBack"> | null;
}

const idForm = /^[\w-]{1,64}$/;
const comparedDefault = 100;
const comparedMax = 10_000;
const sectionForm = new RegExp(`^(?:${sectionNames.join("|")})$`);

export function installSnapshotRoutes(app: FastifyInstance, deps: SnapshotRoutesDeps): void {
  const { snapshots, source, pods, runs, forwardToLeader } = deps;
  const comparisons = new Comparisons();
  app.addHook("preClose", (done) => {
    comparisons.stop();
    done();
  });

  route(app, "/snapshots", {
    async GET(request, reply) {
      new Query(request, []).refuseFaults();
      const reported = pods();
      if (reported === null) {
        // Without a leader, and without pods, there is only the information of the store.
        const answered = await forwarded(request, reply, forwardToLeader);
        if (answered !== null) return answered;
      }
      const body: KeptSnapshots = { items: await keptSnapshots(snapshots), pods: reported === null ? null : [...reported] };
      return sendJson(reply, body);
    },
  });

  // It needs only the store: any process answers.
  route(app, "/snapshots/changes", {
    async GET(request, reply) {
      const query = new Query(request, ["from", "to", "section", "limit"]);
      const from = query.needed("from", idForm, "the id of a kept snapshot");
      const to = query.needed("to", idForm, "the id of a kept snapshot");
      const section = query.needed("section", sectionForm, `one of ${sectionNames.join(", ")}`) as SectionName;
      const limit = query.text("limit", /^(?:[1-9]\d{0,3}|10000)$/, `a number from 1 to ${comparedMax}`);
      query.refuseFaults();
      const ids = await snapshots.list().catch(storeAway);
      for (const id of [from, to])
        if (!ids.includes(id)) throw new ProblemError("snapshot_not_found", { detail: `Snapshot ${id} is not kept.` });
      const leaving = new AbortController();
      reply.raw.once("close", () => leaving.abort());
      const asked = { source, from, to, section, limit: Number(limit ?? comparedDefault) };
      return sendText(reply, await comparisons.compare(asked, leaving.signal));
    },
  });

  route(app, "/rollbacks", {
    async POST(request, reply) {
      new Query(request, []).refuseFaults();
      const asked = readRollback(request);
      const leading = runs();
      if (leading === null) return forwardToLeader(request, reply);
      await refuseRollback(snapshots, asked);
      const run = await leading.rollBack(starterOf(request), asked).catch((error: unknown) => {
        throw startProblem(error);
      });
      return sendStarted(reply, run);
    },
  });
}

function readRollback({ body }: FastifyRequest): RollbackRequest {
  if (Check(RollbackRequest, body)) return body;
  const detail = 'The body of a rollback is {"snapshot": "…", "replaces": "…"}, with the ids of the earlier and of the current snapshot.';
  throw new ProblemError("invalid_body", { detail });
}

async function refuseRollback(snapshots: SnapshotRoutesDeps["snapshots"], { snapshot, replaces }: RollbackRequest): Promise<void> {
  const [pointer, ids] = await Promise.all([snapshots.pointer(), snapshots.list()]).catch(storeAway);
  if (pointer === null || !ids.includes(snapshot)) throw new ProblemError("snapshot_not_found");
  if (pointer.published !== replaces)
    throw new ProblemError("snapshot_conflict", { detail: `Nothing was changed: the current snapshot is ${pointer.published}.` });
  if (snapshot === replaces)
    throw new ProblemError("snapshot_conflict", { detail: `Nothing was changed: ${snapshot} is the current snapshot already.` });
}

function storeAway(cause: unknown): never {
  const detail =
    cause instanceof SnapshotUnavailableError
      ? "The store of snapshots does not answer."
      : "The list of snapshots is damaged in their store. Ingest restores it within seconds, or with its next run.";
  throw new ProblemError("upstream_unavailable", { detail, cause });
}

async function keptSnapshots(snapshots: SnapshotRoutesDeps["snapshots"]): Promise<KeptSnapshot[]> {
  const [pointer, ids] = await Promise.all([snapshots.pointer(), snapshots.list()]).catch(storeAway);
  const manifests = await Promise.all(ids.toReversed().map((id) => snapshots.getManifest(id).catch(() => null)));
  // A snapshot that was removed meanwhile is no longer kept.
  return manifests.flatMap((manifest) => (manifest === null ? [] : [keptSnapshot(manifest, pointer)]));
}

function keptSnapshot({ id, sample_data, sections }: Manifest, pointer: SnapshotPointer | null): KeptSnapshot {
  const entries = Object.entries(sections) as [string, SectionEntry][];
  return {
    id,
    current: id === pointer?.published,
    served: id === pointer?.active,
    sample_data,
    sections: entries.map(([name, { version, as_of, counts }]) => ({ name, version, as_of, counts })),
  };
}
