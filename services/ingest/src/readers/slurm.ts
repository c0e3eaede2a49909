/** Reader of SLURM files (RFC 8416): the operator's own exceptions to the output of validators. */

import { type Prefix, parsePrefix } from "@netfacts/address";
import type { Vrp } from "@netfacts/rpki";
import { type JsonNode, readJsonTree } from "./json-tree.ts";
import { printable, type ReaderReport, type SkippedRecords, type SourceContent, SourceError } from "./reader-report.ts";
import { isWhole } from "./vrp-fields.ts";

/**
 * Removes every VRP whose prefix equals this one or lies in it, and whose AS is this one. Null: any prefix, or any AS; at most one of them is null.
 */
export interface PrefixFilter {
  readonly prefix: Prefix | null;
  readonly asn: number | null;
}

/** The exceptions of a SLURM file for VRPs. */
export interface SlurmExceptions {
  readonly filters: readonly PrefixFilter[];
  /** They have the trust anchor `slurm` and no expiry. */
  readonly assertions: readonly Vrp[];
}

/** The trust anchor of VRPs that the operator adds. */
export const slurmAnchor = "slurm";

const asnMax = 0xffff_ffff;
/** Most faults that a refusal names; a file of another kind would have endless faults. */
const faultsMax = 20;

/**
 * Reads one file. RFC 8416 §3.2 treats any deviation as an error, so that one bad member refuses the file. Each is named with its JSON pointer (RFC
 * 6901). Members for router keys (BGPsec) and, in version 2, for ASPAs are checked for their form and counted, but not applied.
 *
 * @throws SourceError with the byte of the first fault.
 */
export async function readSlurm(content: SourceContent): Promise<{ exceptions: SlurmExceptions; report: ReaderReport }> {
  const { root, bytes, seconds } = await readJsonTree(content);
  const check = new SlurmCheck();
  const exceptions = check.document(root);
  const { faults } = check;
  const [first] = faults;
  if (first !== undefined) {
    const told = faults.slice(0, faultsMax).map(({ pointer, reason }) => `${pointer === "" ? "the document" : pointer} ${reason}`);
    if (faults.length > faultsMax) told.push(`and ${faults.length - faultsMax} more`);
    throw new SourceError(content.file, { offset: first.offset }, `not SLURM (RFC 8416): ${told.join("; ")}`);
  }
  const accepted = exceptions.filters.length + exceptions.assertions.length;
  const skipped = check.notApplied();
  const report: ReaderReport = {
    bytes,
    seconds,
    read: skipped.reduce((sum, { count }) => sum + count, accepted),
    accepted,
    skipped,
    asOf: null,
    notes: [`${exceptions.filters.length} prefix filters, ${exceptions.assertions.length} prefix assertions`],
  };
  return { exceptions, report };
}

interface Fault {
  readonly offset: number;
  readonly pointer: string;
  readonly reason: string;
}

/** A value with its JSON pointer. */
interface Placed {
  readonly node: JsonNode;
  readonly pointer: string;
}

type Members = ReadonlyMap<string, Placed>;

class SlurmCheck {
  readonly faults: Fault[] = [];
  readonly #notApplied = new Map<string, SkippedRecords>();

  /** The exceptions; if the document has faults, do not use them. */
  document(root: JsonNode): SlurmExceptions {
    const top = this.#members({ node: root, pointer: "" }, ["slurmVersion", "validationOutputFilters", "locallyAddedAssertions"], []);
    const version = this.#version(top?.get("slurmVersion"));
    const aspa = (name: string) => (version === 2 ? [name] : []);
    const filters = this.#group(top?.get("validationOutputFilters"), ["prefixFilters", "bgpsecFilters"], aspa("aspaFilters"));
    const assertions = this.#group(top?.get("locallyAddedAssertions"), ["prefixAssertions", "bgpsecAssertions"], aspa("aspaAssertions"));
    const exceptions: SlurmExceptions = {
      filters: this.#each(filters, "prefixFilters", (item) => this.#prefixFilter(item)),
      assertions: this.#each(assertions, "prefixAssertions", (item) => this.#prefixAssertion(item)),
    };
    this.#each(filters, "bgpsecFilters", (item) => this.#bgpsecFilter(item));
    this.#each(assertions, "bgpsecAssertions", (item) => this.#bgpsecAssertion(item));
    this.#each(filters, "aspaFilters", (item) => this.#aspa(item));
    this.#each(assertions, "aspaAssertions", (item) => this.#aspa(item));
    return exceptions;
  }

  notApplied(): SkippedRecords[] {
    return [...this.#notApplied.values()].sort((a, b) => b.count - a.count || (a.reason < b.reason ? -1 : 1));
  }

  #version(placed: Placed | undefined): 1 | 2 | null {
    if (placed === undefined) return null;
    const version = scalar(placed);
    if (version === 1 || version === 2) return version;
    this.#fault(placed, "is not 1 or 2");
    return null;
  }

  #group(placed: Placed | undefined, needed: readonly string[], allowed: readonly string[]): Members | null {
    return placed === undefined ? null : this.#members(placed, needed, allowed);
  }

  #each<T>(group: Members | null, name: string, read: (item: Placed) => T | null): T[] {
    const placed = group?.get(name);
    if (placed === undefined) return [];
    const { node, pointer } = placed;
    if (node.kind !== "array") {
      this.#fault(placed, "is not an array");
      return [];
    }
    return node.items.flatMap((item, index) => read({ node: item, pointer: `${pointer}/${index}` }) ?? []);
  }

  #prefixFilter(item: Placed): PrefixFilter | null {
    const members = this.#members(item, [], ["prefix", "asn", "comment"]);
    if (members === null) return null;
    this.#needsOne(item, members, ["prefix", "asn"]);
    const prefix = this.#prefix(members.get("prefix"));
    const asn = this.#asn(members.get("asn"));
    this.#text(members.get("comment"));
    return { prefix, asn };
  }

  #prefixAssertion(item: Placed): Vrp | null {
    const members = this.#members(item, ["asn", "prefix"], ["maxPrefixLength", "comment"]);
    if (members === null) return null;
    const prefix = this.#prefix(members.get("prefix"));
    const asn = this.#asn(members.get("asn"));
    this.#text(members.get("comment"));
    const given = members.get("maxPrefixLength");
    const longest = prefix?.version === 4 ? 32 : 128;
    const maxLength = given === undefined ? (prefix?.length ?? 0) : scalar(given);
    if (given !== undefined && !isWhole(maxLength, longest)) this.#fault(given, `is not a number from 0 to ${longest}`);
    else if (given !== undefined && prefix !== null && (maxLength as number) < prefix.length)
      this.#fault(given, `is less than the prefix length, ${prefix.length}`);
    if (prefix === null || asn === null) return null;
    return { asn, prefix, maxLength: maxLength as number, ta: slurmAnchor, expiresAt: null, loose: false };
  }

  #bgpsecFilter(item: Placed): void {
    const members = this.#members(item, [], ["asn", "SKI", "comment"]);
    if (members === null) return;
    this.#needsOne(item, members, ["asn", "SKI"]);
    this.#asn(members.get("asn"));
    this.#base64(members.get("SKI"), 27);
    this.#text(members.get("comment"));
    this.#leaveOut("a router key (BGPsec): not applied; Netfacts keeps no router keys", item);
  }

  #bgpsecAssertion(item: Placed): void {
    const members = this.#members(item, ["asn", "SKI", "routerPublicKey"], ["comment"]);
    if (members === null) return;
    this.#asn(members.get("asn"));
    this.#base64(members.get("SKI"), 27);
    this.#base64(members.get("routerPublicKey"), null);
    this.#text(members.get("comment"));
    this.#leaveOut("a router key (BGPsec): not applied; Netfacts keeps no router keys", item);
  }

  /** draft-ietf-sidrops-aspa-slurm is not an RFC yet, so that the names of its members are not checked. */
  #aspa(item: Placed): void {
    if (item.node.kind !== "object") this.#fault(item, "is not an object");
    else this.#leaveOut("an ASPA: not applied by this version", item);
  }

  /** The members by name; null, and a fault is noted, if it is not an object. Missing, unknown and repeated members are faults. */
  #members(placed: Placed, needed: readonly string[], allowed: readonly string[]): Members | null {
    const { node, pointer } = placed;
    if (node.kind !== "object") {
      this.#fault(placed, "is not an object");
      return null;
    }
    const members = new Map<string, Placed>();
    for (const { name, offset, node: value } of node.members) {
      const member: Placed = { node: value, pointer: `${pointer}/${escaped(name)}` };
      if (members.has(name)) this.#fault({ ...member, node: { ...value, offset } }, "appears twice");
      else if (!needed.includes(name) && !allowed.includes(name))
        this.#fault({ ...member, node: { ...value, offset } }, "is not a member of SLURM");
      else members.set(name, member);
    }
    for (const name of needed) if (!members.has(name)) this.#fault(placed, `has no "${name}"`);
    return members;
  }

  #needsOne(item: Placed, members: Members, names: readonly string[]): void {
    if (!names.some((name) => members.has(name))) this.#fault(item, `has neither ${names.map((name) => `"${name}"`).join(" nor ")}`);
  }

  #prefix(placed: Placed | undefined): Prefix | null {
    if (placed === undefined) return null;
    const value = scalar(placed);
    const reading = typeof value === "string" ? parsePrefix(value) : null;
    if (reading?.ok === true) return reading.prefix;
    this.#fault(placed, reading?.fault === "host-bits" ? "has host bits set" : "is not a prefix");
    return null;
  }

  #asn(placed: Placed | undefined): number | null {
    if (placed === undefined) return null;
    const value = scalar(placed);
    if (isWhole(value, asnMax)) return value;
    this.#fault(placed, "is not an AS number");
    return null;
  }

  #text(placed: Placed | undefined): void {
    if (placed !== undefined && typeof scalar(placed) !== "string") this.#fault(placed, "is not a string");
  }

  /** base64url without padding (RFC 4648 §5). `letters`: exact number of characters; null: any. */
  #base64(placed: Placed | undefined, letters: number | null): void {
    if (placed === undefined) return;
    const value = scalar(placed);
    const good = typeof value === "string" && /^[A-Za-z0-9_-]+$/.test(value) && value.length % 4 !== 1;
    if (!good || (letters !== null && value.length !== letters))
      this.#fault(placed, `is not base64url${letters === null ? "" : ` of ${letters} characters`}`);
  }

  #fault({ node, pointer }: Placed, reason: string): void {
    this.faults.push({ offset: node.offset, pointer, reason });
  }

  #leaveOut(reason: string, { node, pointer }: Placed): void {
    const entry = this.#notApplied.get(reason) ?? { reason, bad: false, count: 0, examples: [] };
    this.#notApplied.set(reason, entry);
    entry.count++;
    if (entry.examples.length < 5) entry.examples.push({ offset: node.offset, text: printable(pointer) });
  }
}

/** The value of a scalar; undefined for an object or array, which is never valid there. */
function scalar({ node }: Placed): string | number | boolean | null | undefined {
  return node.kind === "scalar" ? node.value : undefined;
}

/** A name in the form for a JSON pointer (RFC 6901 §3). */
function escaped(name: string): string {
  return printable(name.replaceAll("~", "~0").replaceAll("/", "~1"));
}
