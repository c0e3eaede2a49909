/** Which flows NetworkPolicies permit (networking.k8s.io/v1), for selectors by labels within one namespace, and by any namespace. */

import type { Manifest } from "../../support/helm.ts";
import type { Flow } from "./flows.ts";

/** Who has an address: a pod, or something that policies name as one. */
export interface Peer {
  readonly name: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
}

export interface Verdict {
  /** Whether each end that is a pod lets it through. */
  readonly permitted: boolean;
  /** `name of the policy: Egress PROTOCOL PORT` of each rule that permits it. */
  readonly rules: readonly string[];
}

type Direction = "Ingress" | "Egress";

/** @param peers  by address; an address that is not there is outside of the cluster. */
export function judge(flow: Flow, policies: readonly Manifest[], peers: ReadonlyMap<string, Peer>): Verdict {
  const egress = permits("Egress", peers.get(flow.from), peers.get(flow.to), flow, policies);
  const ingress = permits("Ingress", peers.get(flow.to), peers.get(flow.from), flow, policies);
  return { permitted: egress.permitted && ingress.permitted, rules: [...egress.rules, ...ingress.rules] };
}

/** Names of all rules, as `judge` gives them. */
export function rulesOf(policies: readonly Manifest[]): string[] {
  return policies.flatMap((policy) =>
    (["Ingress", "Egress"] as const).flatMap((direction) =>
      rules(policy, direction).flatMap(({ ports = [] }) => ports.map((port: Manifest) => ruleName(policy, direction, port))),
    ),
  );
}

function permits(direction: Direction, own: Peer | undefined, other: Peer | undefined, flow: Flow, policies: readonly Manifest[]): Verdict {
  if (own === undefined) return { permitted: true, rules: [] };
  const applying = policies.filter(
    ({ metadata, spec }) =>
      metadata.namespace === own.namespace && spec.policyTypes.includes(direction) && selects(spec.podSelector, own.labels),
  );
  if (applying.length === 0) return { permitted: true, rules: [] };
  const found = applying.flatMap((policy) =>
    rules(policy, direction).flatMap((rule) => {
      const peers: Manifest[] = rule[direction === "Egress" ? "to" : "from"] ?? [];
      if (peers.length > 0 && !peers.some((peer) => isPeer(peer, own, other))) return [];
      return (rule.ports ?? [])
        .filter(({ port, protocol = "TCP" }: Manifest) => port === flow.port && protocol === flow.protocol)
        .map((port: Manifest) => ruleName(policy, direction, port));
    }),
  );
  return { permitted: found.length > 0, rules: found };
}

function rules({ spec }: Manifest, direction: Direction): Manifest[] {
  return spec[direction.toLowerCase()] ?? [];
}

function ruleName({ metadata }: Manifest, direction: Direction, { port, protocol = "TCP" }: Manifest): string {
  return `${metadata.name}: ${direction} ${protocol} ${port}`;
}

function isPeer({ namespaceSelector, podSelector }: Manifest, own: Peer, other: Peer | undefined): boolean {
  if (other === undefined || (namespaceSelector === undefined && other.namespace !== own.namespace)) return false;
  return podSelector === undefined || selects(podSelector, other.labels);
}

function selects({ matchLabels = {}, matchExpressions = [] }: Manifest, labels: Readonly<Record<string, string>>): boolean {
  const hasLabels = Object.entries(matchLabels).every(([name, value]) => labels[name] === value);
  return (
    hasLabels &&
    matchExpressions.every(({ key, operator, values }: Manifest) => {
      if (operator === "In") return values.includes(labels[key]);
      if (operator === "NotIn") return !values.includes(labels[key]);
      throw new Error(`the operator ${operator} is not read here`);
    })
  );
}
