/** The length of a prefix in CIDR form. */

export function lengthOf(prefix: string): number {
  return Number(prefix.slice(prefix.indexOf("/") + 1));
}
