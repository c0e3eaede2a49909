/** The state of a key, a run or a source, in one word. */

const classes: Readonly<Record<string, string>> = {
  active: "valid",
  succeeded: "valid",
  read: "valid",
  failed: "invalid",
  revoked: "invalid",
};

export function StateBadge({ state }: { readonly state: string }) {
  return <span class={`badge ${classes[state] ?? ""}`}>{state}</span>;
}
