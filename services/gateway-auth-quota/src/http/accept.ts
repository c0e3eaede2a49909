/** Content negotiation (RFC 9110 §12.5.1) for edges that have one format. */

/** Whether an `Accept` header allows `type/subtype`; no header allows everything. */
export function accepts(header: string | undefined, type: string, subtype: string): boolean {
  if (header === undefined || header.trim() === "") return true;
  // The most specific range that fits decides: 3 = type/subtype, 2 = type/*, 1 = */*.
  let best = { precision: 0, weight: 0 };
  for (const range of header.split(",")) {
    const [name = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
    const precision = [`*/*`, `${type}/*`, `${type}/${subtype}`].indexOf(name) + 1;
    if (precision === 0 || precision < best.precision) continue;
    const weight = weightOf(parameters);
    best = { precision, weight: precision === best.precision ? Math.max(weight, best.weight) : weight };
  }
  return best.weight > 0;
}

function weightOf(parameters: readonly string[]): number {
  const q = parameters.find((parameter) => parameter.startsWith("q="));
  const weight = q === undefined ? 1 : Number(q.slice(2));
  return Number.isFinite(weight) ? weight : 1;
}
