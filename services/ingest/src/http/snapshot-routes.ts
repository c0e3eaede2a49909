/** The operator API of kept snapshots: what the store has, which of it is served, what the pods report to the leader, and the way back. */

import {
  type KeptSnapshot,
  type KeptSnapshots,
  type PodReport,
  ProblemError,
  type ProblemItem,
  RollbackRequest,
} from "@netfacts/contracts";
import type { Manifest, SectionEntry, SnapshotPointer, SnapshotStore } from "@netfacts/snapshot";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { Compile } from "typebox/compile";
import type { RunManager } from "../runs/run-manager.ts";
import { handedOn, type OperatorRoutesDeps, route, sendJson, sendStarted, starterOf, startProblem } from "./operator-routes.ts";

export interface SnapshotRoutesDeps extends Pick<OperatorRoutesDeps, "handOn"> {
  readonly snapshots: Pick<SnapshotStore, "list" | "pointer" | "getManifest">;
  /** What pods report to this process while it leads; null: it does not lead. */
  pods(): readonly PodReport[] | null;
  /** The runs of this process while it leads. */
  runs(): Pick<RunManager, "rollBack"> | null;
}

const rollbackRequest = Compile(RollbackRequest);

export function installSnapshotRoutes(app: FastifyInstance, deps: SnapshotRoutesDeps): void {
  const { snapshots, pods, runs, handOn } = deps;

  route(app, "/snapshots", {
    async GET(request, reply) {
      refuseParameters(request);
      const reported = pods();
      if (reported === null) {
        // While nobody leads, and where there are no pods, there is what the store tells.
        const answered = await handedOn(request, reply, handOn);
        if (answered !== null) return answered;
      }
      const body: KeptSnapshots = { items: await keptSnapshots(snapshots), pods: reported === null ? null : [...reported] };
      return sendJson(reply, body);
    },
  });

  route(app, "/rollbacks", {
    async POST(request, reply) {
      refuseParameters(request);
      const asked = readRollback(request);
      const leading = runs();
      if (leading === null) return handOn(request, reply);
      await refuseRollback(snapshots, asked);
      const run = await leading.rollBack(starterOf(request), asked).catch((error: unknown) => {
        throw startProblem(error);
      });
      return sendStarted(reply, run);
    },
  });
}

function readRollback({ body }: FastifyRequest): RollbackRequest {
  if (rollbackRequest.Check(body)) return body;
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
  throw new ProblemError("upstream_unavailable", { detail: "The store of snapshots does not answer.", cause });
}

async function keptSnapshots(snapshots: SnapshotRoutesDeps["snapshots"]): Promise<KeptSnapshot[]> {
  const [pointer, ids] = await Promise.all([snapshots.pointer(), snapshots.list()]).catch(storeAway);
  const manifests = await Promise.all(ids.toReversed().map((id) => snapshots.getManifest(id).catch(() => null)));
  // One that was removed while this was asked is not kept.
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

function refuseParameters({ url }: FastifyRequest): void {
  const at = url.indexOf("?");
  const names = [...new Set(new URLSearchParams(at < 0 ? "" : url.slice(at + 1)).keys())];
  if (names.length === 0) return;
  const errors = names.slice(0, 10).map(
    (name): ProblemItem => ({
      location: `query.${name.slice(0, 40).replaceAll(/[^\w.-]/g, "?")}`,
      code: "invalid_parameter",
      message: "is unknown; this route has no parameters",
    }),
  );
  throw new ProblemError("invalid_parameter", { detail: "This route has no parameters.", errors });
}
