/** Two snapshots side by side: versions and counts of their sections. Pure. */

import type { KeptSnapshot, SnapshotChange } from "@netfacts/contracts";
import { words } from "../domain/format.ts";

export interface SectionChange {
  readonly name: string;
  /** Versions; null: the snapshot lacks the section. */
  readonly from: string | null;
  readonly to: string | null;
  /** Kinds of records with their counts in both; null: not in that snapshot. */
  readonly counts: readonly { readonly kind: string; readonly from: number | null; readonly to: number | null }[];
}

/** Sections of both snapshots, in the order of `to`, then those that only `from` has. */
export function sectionChanges(from: KeptSnapshot, to: KeptSnapshot): SectionChange[] {
  const names = [...new Set([...to.sections, ...from.sections].map(({ name }) => name))];
  return names.map((name) => {
    const [before, after] = [from, to].map(({ sections }) => sections.find((section) => section.name === name));
    const kinds = [...new Set([...Object.keys(after?.counts ?? {}), ...Object.keys(before?.counts ?? {})])];
    return {
      name,
      from: before?.version ?? null,
      to: after?.version ?? null,
      counts: kinds.map((kind) => ({ kind, from: before?.counts[kind] ?? null, to: after?.counts[kind] ?? null })),
    };
  });
}

/** Name of a row: `prefix 193.0.0.0/21, origin 3333`. */
export function rowName({ row }: SnapshotChange): string {
  return Object.entries(row)
    .map(([name, value]) => `${words(name)} ${valueText(value)}`)
    .join(", ");
}

/** Values of a row, or the changed ones: `peers seeing 2 → 3`. */
export function rowValues({ from, to }: SnapshotChange): string {
  const names = Object.keys(to ?? from ?? {});
  const changed = from === null || to === null ? names : names.filter((name) => valueText(from[name]) !== valueText(to[name]));
  return changed
    .map((name) => `${words(name)} ${[from, to].flatMap((side) => (side === null ? [] : [valueText(side[name])])).join(" → ")}`)
    .join(", ");
}

function valueText(value: unknown): string {
  if (value === null || value === undefined) return "–";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

export interface PodGroup {
  /** Null: the pods do not serve a snapshot yet. */
  readonly snapshot: string | null;
  readonly pods: readonly string[];
}

/** Names of pods by the snapshot that they serve, the newest snapshot first and pods without one last. */
export function podsBySnapshot(pods: readonly { readonly pod: string; readonly serving: string | null }[]): PodGroup[] {
  const groups = new Map<string | null, string[]>();
  for (const { pod, serving } of pods) groups.set(serving, [...(groups.get(serving) ?? []), pod]);
  return [...groups].map(([snapshot, pods]) => ({ snapshot, pods })).toSorted((a, b) => ((a.snapshot ?? "") < (b.snapshot ?? "") ? 1 : -1));
}
