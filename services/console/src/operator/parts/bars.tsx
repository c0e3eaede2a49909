/** Bars of counts, as SVG: horizontal ones with names, or vertical ones for days. The numbers are also shown as text. */

import { count, counted } from "../../domain/format.ts";
import { Outside } from "../../parts/basics.tsx";
import type { Bar } from "../usage-days.ts";

export function BarList({ bars }: { readonly bars: readonly Bar[] }) {
  const max = Math.max(1, ...bars.map(({ value }) => value));
  return (
    <ul class="plain bars">
      {bars.map(({ name, value }) => (
        <li key={name}>
          <span class="row">
            <span class="fill">
              <Outside text={name} />
            </span>
            <span class="detail">{count(value)}</span>
          </span>
          <svg viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
            <rect width={(value / max) * 100} height={4} />
          </svg>
        </li>
      ))}
    </ul>
  );
}

/** @param bars  a bar for each day, without gaps. */
export function DayBars({ label, bars }: { readonly label: string; readonly bars: readonly Bar[] }) {
  const max = Math.max(1, ...bars.map(({ value }) => value));
  const top = bars.reduce<Bar | null>((most, bar) => (most === null || bar.value > most.value ? bar : most), null);
  const says = top === null || top.value === 0 ? `${label}: none` : `${label}: most on ${top.name}, ${counted(top.value, "request")}`;
  return (
    <figure class="bars">
      <svg viewBox={`0 0 ${bars.length * 10} 60`} preserveAspectRatio="none" role="img" aria-label={says}>
        {bars.map(({ name, value }, at) => (
          <rect key={name} x={at * 10 + 1} width={8} y={60 - (value / max) * 60} height={(value / max) * 60}>
            <title>{`${name}: ${count(value)}`}</title>
          </rect>
        ))}
      </svg>
      <figcaption class="detail">
        {bars[0]?.name} – {bars.at(-1)?.name}. {says}.
      </figcaption>
    </figure>
  );
}
