/** Usage as bars, and the days and groups of a form. Pure. */

import type { UsageItem } from "@netfacts/contracts";

export interface Bar {
  readonly name: string;
  readonly value: number;
}

/** Groupings that a page offers, as values of `by`. */
export const groupings = ["key", "day", "route_class", "key,day", "key,route_class", "day,route_class", "key,day,route_class"] as const;

/** Members that distinguish the rows of a grouping. */
export function membersOf(grouping: string): readonly ("key" | "day" | "route_class")[] {
  // The pages offer no other names.
  return grouping.split(",") as ("key" | "day" | "route_class")[];
}

const dayMs = 86_400_000;

/** A bar for every day from the first to the last, at most 366; 0 for a day without usage. */
export function dayBars(from: string, to: string, items: readonly UsageItem[]): Bar[] {
  const used = new Map(items.map(({ day, counted, uncounted }) => [day ?? "", counted + uncounted]));
  const bars: Bar[] = [];
  for (let at = Date.parse(from); at <= Date.parse(to) && bars.length < 366; at += dayMs) {
    const name = new Date(at).toISOString().slice(0, 10);
    bars.push({ name, value: used.get(name) ?? 0 });
  }
  return bars;
}

/** Bars in descending order of usage; all after the first `shown` are one bar. */
export function topBars(items: readonly UsageItem[], nameOf: (item: UsageItem) => string, shown = 8): Bar[] {
  const all = items.map((item) => ({ name: nameOf(item), value: item.counted + item.uncounted })).toSorted((a, b) => b.value - a.value);
  const others = all.slice(shown).reduce((sum, { value }) => sum + value, 0);
  return others === 0 ? all.slice(0, shown) : [...all.slice(0, shown), { name: "others", value: others }];
}

/** The month of a time: `2026-11`. */
export function monthOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 7);
}
