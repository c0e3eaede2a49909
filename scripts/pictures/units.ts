/** Formats values of panels like Grafana, by unit. */

/** Formatters of values, for each unit that the dashboards use. */
const writers: Readonly<Record<string, (value: number) => string>> = {
  short: (value) => scaled(value, 1_000, ["", " K", " Mil", " Bil"]),
  reqps: (value) => `${scaled(value, 1_000, ["", "K", "M"])} req/s`,
  ops: (value) => `${scaled(value, 1_000, ["", "K", "M"])} ops/s`,
  Bps: (value) => scaled(value, 1_000, [" B/s", " kB/s", " MB/s", " GB/s"]),
  bytes: (value) => scaled(value, 1_024, [" B", " KiB", " MiB", " GiB"]),
  percentunit: (value) => `${rounded(value * 100)}%`,
  s: seconds,
};

/** @throws Error for an unknown unit. */
export function withUnit(unit: string, value: number): string {
  const write = writers[unit];
  if (write === undefined) throw new Error(`no way to write the unit ${unit}: add it to scripts/pictures/units.ts`);
  return write(value);
}

function scaled(value: number, base: number, names: readonly string[]): string {
  const magnitude = Math.abs(value);
  let step = 0;
  while (step < names.length - 1 && magnitude >= base ** (step + 1)) step++;
  return `${rounded(value / base ** step)}${names[step]}`;
}

const lengths = [
  [86_400, " d"],
  [3_600, " h"],
  [60, " min"],
  [1, " s"],
  [0.001, " ms"],
  [0.000_001, " µs"],
] as const;

function seconds(value: number): string {
  if (value === 0) return "0 s";
  const [length, name] = lengths.find(([length]) => Math.abs(value) >= length) ?? lengths[lengths.length - 1] ?? [1, " s"];
  return `${rounded(value / length)}${name}`;
}

/** Rounds to three digits, which are easy to read at a glance. */
function rounded(value: number): string {
  return `${Number(value.toPrecision(3))}`;
}

/** A few round values from the least to the greatest or beyond, each with a different text. */
export function ticks(least: number, greatest: number, unit: string): number[] {
  const span = greatest > least ? greatest - least : Math.max(Math.abs(greatest), 1);
  for (let rough = span / 4; ; rough *= 2) {
    const found = multiples(least, least + span, stepOf(rough, unit));
    if (new Set(found.map((value) => withUnit(unit, value))).size === found.length) return found;
  }
}

function multiples(least: number, greatest: number, step: number): number[] {
  const first = Math.floor(least / step);
  const last = Math.max(first + 1, Math.ceil(greatest / step - 1e-9));
  return Array.from({ length: last - first + 1 }, (_, index) => Number(((first + index) * step).toPrecision(12)));
}

function stepOf(rough: number, unit: string): number {
  // Steps are multiples of minutes, hours and days, or of KiB, MiB and GiB.
  const units = unit === "s" ? [86_400, 3_600, 60, 1] : unit === "bytes" ? [1 << 30, 1 << 20, 1 << 10, 1] : [1];
  const base = units.find((length) => rough >= length) ?? 1;
  const power = 10 ** Math.floor(Math.log10(rough / base));
  const factor = [1, 2, 5, 10].find((candidate) => candidate * power * base >= rough) ?? 10;
  return factor * power * base;
}
