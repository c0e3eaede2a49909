/** The operator API of kept snapshots: what the store has, which of it is served, and what the pods report to the leader. */

import { type KeptSnapshot, type KeptSnapshots, type PodReport, ProblemError, type ProblemItem } from "@netfacts/contracts";
import type { Manifest, SectionEntry, SnapshotPointer, SnapshotStore } from "@netfacts/snapshot";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { route, sendJson } from "./operator-routes.ts";

export interface SnapshotRoutesDeps {
  readonly snapshots: Pick<SnapshotStore, "list" | "pointer" | "getManifest">;
  /** What pods report to this process while it leads; null: it does not lead. */
  pods(): readonly PodReport[] | null;
  /** Lets the leader answer; null: there are no pods to report to one. */
  readonly handOn: ((request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>) | null;
}

export function installSnapshotRoutes(app: FastifyInstance, { snapshots, pods, handOn }: SnapshotRoutesDeps): void {
  route(app, "/snapshots", {
    async GET(request, reply) {
      refuseParameters(request);
      const reported = pods();
      if (reported === null && handOn !== null) {
        // While nobody leads there is what the store tells.
        const answered = await handOn(request, reply).catch((error: unknown) => {
          if (error instanceof ProblemError) return null;
          throw error;
        });
        if (answered !== null) return answered;
      }
      const body: KeptSnapshots = { items: await keptSnapshots(snapshots), pods: reported === null ? null : [...reported] };
      return sendJson(reply, body);
    },
  });
}

async function keptSnapshots(snapshots: SnapshotRoutesDeps["snapshots"]): Promise<KeptSnapshot[]> {
  try {
    const pointer = await snapshots.pointer();
    const ids = await snapshots.list();
    const manifests = await Promise.all(ids.toReversed().map((id) => snapshots.getManifest(id).catch(() => null)));
    // One that was removed while this was asked is not kept.
    return manifests.flatMap((manifest) => (manifest === null ? [] : [keptSnapshot(manifest, pointer)]));
  } catch (cause) {
    throw new ProblemError("upstream_unavailable", { detail: "The store of snapshots does not answer.", cause });
  }
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
