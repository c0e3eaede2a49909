/**
 * A second reading of MRT, written from the RFCs alone: plain DataViews, copies everywhere, nothing shared with the decoder but the rules of its
 * README and the shape of its JSON. Slow and obvious on purpose.
 */

export type SlowReading =
  | { readonly offset: number; readonly json: Record<string, unknown> }
  /** `withdraws`: the UPDATE whose prefixes count as withdrawn (RFC 7606 §2); null for what cannot be read at all. */
  | { readonly offset: number; readonly refused: true; readonly withdraws: Record<string, unknown> | null };

export interface SlowFile {
  readonly readings: readonly SlowReading[];
  /** Why the file ends before its last byte. */
  readonly ending: "truncated" | "bad-header" | null;
}

class Refused extends Error {}

/** Takes fields from the front of a copy. */
class Bytes {
  view: DataView;
  at = 0;

  constructor(bytes: Uint8Array) {
    this.view = new DataView(new Uint8Array(bytes).buffer);
  }

  get left(): number {
    return this.view.byteLength - this.at;
  }

  take(count: number): Bytes {
    if (this.left < count) throw new Refused(`${count} bytes of ${this.left}`);
    const taken = new Bytes(new Uint8Array(this.view.buffer, this.at, count));
    this.at += count;
    return taken;
  }

  uint(bytes: 1 | 2 | 4): number {
    if (this.left < bytes) throw new Refused(`${bytes} bytes of ${this.left}`);
    const { view, at } = this;
    this.at += bytes;
    return bytes === 1 ? view.getUint8(at) : bytes === 2 ? view.getUint16(at) : view.getUint32(at);
  }

  rest(): Bytes {
    return this.take(this.left);
  }

  list(): number[] {
    return [...new Uint8Array(this.view.buffer, this.at)];
  }

  hex(): string {
    return this.rest()
      .list()
      .map((byte) => byte.toString(16).padStart(2, "0"))
      .join("");
  }

  empty(): void {
    if (this.left > 0) throw new Refused("bytes left");
  }
}

/** RFC 4291 and RFC 5952, from 4 or 16 bytes. */
function addressText(bytes: readonly number[]): string {
  if (bytes.length === 4) return bytes.join(".");
  const groups = Array.from({ length: 8 }, (_, n) => (bytes[2 * n] as number) * 256 + (bytes[2 * n + 1] as number));
  const hex = groups.map((group) => group.toString(16));
  let best = { from: -1, length: 1 };
  for (let from = 0; from < 8; from++) {
    let length = 0;
    while (from + length < 8 && groups[from + length] === 0) length++;
    if (length > best.length) best = { from, length };
  }
  if (best.from < 0) return hex.join(":");
  // RFC 5952 §5: mapped addresses end in dotted form; so do the deprecated compatible ones, but for :: and ::1 and their like.
  if (best.from === 0 && best.length === 5 && groups[5] === 0xffff) return `::ffff:${bytes.slice(12).join(".")}`;
  if (best.from === 0 && best.length === 6) return `::${bytes.slice(12).join(".")}`;
  return `${hex.slice(0, best.from).join(":")}::${hex.slice(best.from + best.length).join(":")}`;
}

function address(bytes: Bytes, version: 4 | 6): string {
  return addressText(bytes.take(version === 4 ? 4 : 16).list());
}

/** RFC 4271 §4.3: bits past the length have no meaning. */
function prefix(bytes: Bytes, version: 4 | 6): string {
  const length = bytes.uint(1);
  const size = version === 4 ? 4 : 16;
  if (length > size * 8) throw new Refused("prefix length");
  const given = bytes.take(Math.ceil(length / 8)).list();
  const bits = Array.from({ length: size }, (_, n) => (given[n] ?? 0).toString(2).padStart(8, "0")).join("");
  const masked = bits.slice(0, length).padEnd(size * 8, "0");
  return `${addressText(Array.from({ length: size }, (_, n) => Number.parseInt(masked.slice(8 * n, 8 * n + 8), 2)))}/${length}`;
}

type PrefixJson = string | { prefix: string; path_id: number };

/** @returns the prefixes that are whole; `cut` when the last one is not. */
function prefixes(bytes: Bytes, version: 4 | 6, addPath: boolean): { list: PrefixJson[]; cut: boolean } {
  const list: PrefixJson[] = [];
  while (bytes.left > 0) {
    const head = addPath ? 5 : 1;
    if (bytes.left < head) return { list, cut: true };
    const length = bytes.view.getUint8(bytes.at + head - 1);
    if (length <= (version === 4 ? 32 : 128) && bytes.left < head + Math.ceil(length / 8)) return { list, cut: true };
    if (addPath) {
      const path_id = bytes.uint(4);
      list.push({ prefix: prefix(bytes, version), path_id });
    } else {
      list.push(prefix(bytes, version));
    }
  }
  return { list, cut: false };
}

interface Segment {
  type: string;
  asns: number[];
}

/** RFC 4271 §4.3 b, RFC 5065 §3, RFC 7606 §7.2. */
function path(bytes: Bytes, asBytes: 2 | 4): Segment[] {
  const segments: Segment[] = [];
  while (bytes.left > 0) {
    const type = ["set", "sequence", "confed-sequence", "confed-set"][bytes.uint(1) - 1];
    const count = bytes.uint(1);
    if (type === undefined || count === 0) throw new Refused("segment");
    const asns = bytes.take(count * asBytes);
    segments.push({ type, asns: Array.from({ length: count }, () => asns.uint(asBytes)) });
  }
  return segments;
}

function pathText(segments: readonly Segment[]): string {
  return segments
    .map(({ type, asns }) => {
      if (type === "sequence") return asns.join(" ");
      if (type === "set") return `{${asns.join(",")}}`;
      return type === "confed-sequence" ? `(${asns.join(" ")})` : `[${asns.join(",")}]`;
    })
    .join(" ");
}

/** RFC 6793 §4.2.3, one AS number after the other. */
function merged(old: readonly Segment[], as4: readonly Segment[]): readonly Segment[] {
  const counted = (segments: readonly Segment[]) =>
    segments.flatMap(({ type, asns }) => (type === "sequence" ? asns : type === "set" ? [0] : [])).length;
  let take = counted(old) - counted(as4);
  if (take < 0) return old;
  const leading: Segment[] = [];
  for (const { type, asns } of old) {
    if (type.startsWith("confed")) {
      leading.push({ type, asns });
      continue;
    }
    if (take === 0) break;
    const some = type === "set" ? asns : asns.slice(0, take);
    leading.push({ type, asns: some });
    take -= type === "set" ? 1 : some.length;
    if (type === "sequence" && some.length < asns.length) break;
  }
  return [...leading, ...as4];
}

interface Context {
  asBytes: 2 | 4;
  addPath: boolean;
  rib: 4 | 6 | null;
}

function nextHop(bytes: Bytes): Record<string, string> {
  const length = bytes.uint(1);
  if (length === 4) return { next_hop: address(bytes, 4) };
  if (length === 16) return { next_hop: address(bytes, 6) };
  if (length === 32) return { next_hop: address(bytes, 6), link_local: address(bytes, 6) };
  throw new Refused("next hop");
}

function family(afi: number, safi: number): 4 | 6 | null {
  return [1, 2, 3].includes(safi) && [1, 2].includes(afi) ? (afi === 1 ? 4 : 6) : null;
}

type Value = { cut?: boolean; json: unknown };
type ReadValue = (value: Bytes, context: Context) => Value;

const whole = (json: unknown): Value => ({ json });
const list = (value: Bytes, read: (value: Bytes) => unknown): Value => {
  const items: unknown[] = [];
  while (value.left > 0) items.push(read(value));
  return whole(items);
};
const sized = (value: Bytes, ...sizes: number[]): Bytes => {
  if (!sizes.includes(value.left)) throw new Refused("size");
  return value;
};

/** RFC 7607 §2. */
const notZero = (asn: number): number => {
  if (asn === 0) throw new Refused("AS 0");
  return asn;
};

/** Name in JSON, whether a bad one is left out, withdraws the prefixes (both RFC 7606) or takes the record with it, and how it is read. */
const known: Record<number, [name: string, whenBad: "discard" | "withdraw" | "refuse", read: ReadValue]> = {
  1: [
    "origin",
    "withdraw",
    (value) => {
      const name = ["igp", "egp", "incomplete"][value.uint(1)];
      if (name === undefined) throw new Refused("origin");
      return whole(name);
    },
  ],
  2: ["as_path", "withdraw", (value, { asBytes }) => whole(path(value, asBytes))],
  3: ["next_hop", "withdraw", (value) => whole(address(value, 4))],
  4: ["multi_exit_disc", "withdraw", (value) => whole(value.uint(4))],
  5: ["local_pref", "withdraw", (value) => whole(value.uint(4))],
  6: ["atomic_aggregate", "discard", (value) => whole(sized(value, 0).left === 0)],
  7: ["aggregator", "discard", (value) => whole({ asn: sized(value, 6, 8).uint(value.left === 8 ? 4 : 2), address: address(value, 4) })],
  8: ["communities", "withdraw", (value) => list(value, (each) => `${each.uint(2)}:${each.uint(2)}`)],
  9: ["originator_id", "discard", (value) => whole(address(sized(value, 4), 4))],
  10: ["cluster_list", "discard", (value) => list(value, (each) => address(each, 4))],
  14: [
    "mp_reach_nlri",
    "refuse",
    (value, { rib, addPath }) => {
      if (rib !== null && value.left > 0 && value.view.getUint8(0) !== 0) {
        return whole({ afi: rib === 4 ? 1 : 2, safi: 1, ...nextHop(value), prefixes: [] });
      }
      const head = { afi: value.uint(2), safi: value.uint(1) };
      const version = family(head.afi, head.safi);
      if (version === null) {
        value.rest();
        return whole({ ...head, next_hop: null, prefixes: null });
      }
      const hops = nextHop(value);
      if (rib !== null) {
        // Its prefixes count for nothing: what is wrong with them is left out.
        const rest = value.rest();
        try {
          if (rest.left > 0) rest.uint(1);
          const { list: told, cut } = prefixes(rest, version, addPath);
          return { json: { ...head, ...hops, prefixes: told }, cut };
        } catch (error) {
          if (!(error instanceof Refused)) throw error;
          return { json: { ...head, ...hops, prefixes: [] }, cut: true };
        }
      }
      value.uint(1);
      const { list: told, cut } = prefixes(value.rest(), version, addPath);
      return { json: { ...head, ...hops, prefixes: told }, cut };
    },
  ],
  15: [
    "mp_unreach_nlri",
    "refuse",
    (value, { addPath }) => {
      const head = { afi: value.uint(2), safi: value.uint(1) };
      const version = family(head.afi, head.safi);
      const rest = value.rest();
      if (version === null) return whole({ ...head, prefixes: null });
      const { list: told, cut } = prefixes(rest, version, addPath);
      return { json: { ...head, prefixes: told }, cut };
    },
  ],
  16: ["extended_communities", "withdraw", (value) => list(value, (each) => each.take(8).hex())],
  17: [
    "as4_path",
    "discard",
    (value) => {
      const told = path(value, 4);
      for (const { asns } of told) for (const asn of asns) notZero(asn);
      return whole(told.filter(({ type }) => !type.startsWith("confed")));
    },
  ],
  18: ["as4_aggregator", "discard", (value) => whole({ asn: notZero(sized(value, 8).uint(4)), address: address(value, 4) })],
  32: ["large_communities", "withdraw", (value) => list(value, (each) => [each.uint(4), each.uint(4), each.uint(4)].join(":"))],
};

interface Attributes {
  json: Record<string, unknown>;
  /** Types of what was left out, sorted by the caller. */
  left: (number | null)[];
  /** The prefixes count as withdrawn. */
  malformed: boolean;
}

function attributes(bytes: Bytes, context: Context): Attributes {
  const json: Record<string, unknown> = {};
  const unknown: unknown[] = [];
  const left: (number | null)[] = [];
  const seen: number[] = [];
  let malformed = false;
  while (bytes.left > 0) {
    // RFC 7606 §4: an attribute that is longer than the list ends it.
    const head = bytes.view.getUint8(bytes.at) % 32 >= 16 ? 4 : 3;
    const size = bytes.left < head ? 0 : head === 4 ? bytes.view.getUint16(bytes.at + 2) : bytes.view.getUint8(bytes.at + 2);
    if (bytes.left < head + size) {
      if (context.rib !== null) throw new Refused("attribute");
      malformed = true;
      break;
    }
    const flags = bytes.uint(1);
    const type = bytes.uint(1);
    const value = bytes.take(bytes.uint(flags % 32 >= 16 ? 2 : 1));
    const entry = known[type];
    if (entry === undefined) {
      unknown.push({ flags, type, hex: value.hex() });
      continue;
    }
    const [name, whenBad, read] = entry;
    const multi = type === 14 || type === 15;
    if (seen.includes(type) && !multi) {
      left.push(type);
      continue;
    }
    seen.push(type);
    try {
      const { json: told, cut = false } = read(value, context);
      value.empty();
      if (cut) left.push(type);
      if (multi) {
        const before = (json[name] ?? []) as { afi: number; safi: number }[];
        const { afi, safi } = told as { afi: number; safi: number };
        if (before.length === 32 || before.some((each) => each.afi === afi && each.safi === safi)) throw new Refused("twice");
        json[name] = [...before, told];
      } else {
        json[name] = told;
      }
    } catch (error) {
      if (!(error instanceof Refused) || whenBad === "refuse") throw error;
      if (whenBad === "discard") left.push(type);
      else if (context.rib === null) malformed = true;
      else throw error;
    }
  }
  if (context.asBytes === 2) mergeAs4(json);
  if (json.as_path !== undefined) {
    json.as_path_segments = json.as_path;
    json.as_path = pathText(json.as_path as Segment[]);
  }
  if (json.as4_path !== undefined) json.as4_path = pathText(json.as4_path as Segment[]);
  if (unknown.length > 0) json.unknown = unknown;
  return { json, left, malformed };
}

function mergeAs4(json: Record<string, unknown>): void {
  const aggregator = json.aggregator as { asn: number } | undefined;
  // RFC 7607 §2: one with AS 0 is malformed, which makes it none (RFC 7606 §7.7).
  if (aggregator !== undefined && aggregator.asn !== 0 && json.as4_aggregator !== undefined) {
    if (aggregator.asn !== 23456) return;
    json.aggregator = json.as4_aggregator;
  }
  if (json.as_path === undefined || json.as4_path === undefined) return;
  if (/\b0\b/.test(pathText(json.as_path as Segment[]))) return;
  json.as_path = merged(json.as_path as Segment[], json.as4_path as Segment[]);
}

function attributesJson({ json, left }: Attributes): Record<string, unknown> {
  return left.length === 0 ? json : { ...json, discarded: left };
}

function update(bytes: Bytes, context: Context, messageCut = false): Record<string, unknown> {
  const withdrawn = prefixes(bytes.take(bytes.uint(2)), 4, context.addPath);
  const told = attributes(bytes.take(bytes.uint(2)), context);
  const announced = prefixes(bytes.rest(), 4, context.addPath);
  if (withdrawn.cut) told.left.push(null);
  if (announced.cut) told.left.push(null);
  if (messageCut) told.left.push(null);
  const json = { withdrawn: withdrawn.list, announced: announced.list, attributes: attributesJson(told) };
  return told.malformed ? { ...json, malformed: true } : json;
}

/** RFC 4271 §4.1. @param marker  how many bytes of it are left. */
function message(bytes: Bytes, context: Context, marker: number): Record<string, unknown> {
  if (
    bytes
      .take(marker)
      .list()
      .some((byte) => byte !== 255)
  )
    throw new Refused("marker");
  const length = bytes.uint(2);
  const type = bytes.uint(1);
  const missing = length - 19 - bytes.left;
  // An UPDATE alone may be cut off, as Zebra did with long ones.
  if (length < 19 || missing < 0 || (missing > 0 && type !== 2)) throw new Refused("message length");
  if (type === 2) return { kind: "update", ...update(bytes.rest(), context, missing > 0) };
  const kinds: Record<number, string> = { 1: "open", 3: "notification", 4: "keepalive", 5: "route-refresh", 128: "route-refresh" };
  const kind = kinds[type];
  const body = bytes.rest();
  if (kind === undefined) return { kind: "unread", what: `BGP message of type ${type}` };
  if (type === 1) {
    const open = { version: body.uint(1), asn: body.uint(2), hold_time: body.uint(2), bgp_id: address(body, 4) };
    const size = body.uint(1);
    return { kind, ...open, parameters: body.take(size).hex() + body.hex() };
  }
  if (type === 3) return { kind, code: body.uint(1), subcode: body.uint(1), data: body.hex() };
  if (type === 4) body.empty();
  return { kind };
}

const bgp4mpForms: Record<number, { asBytes: 2 | 4; sent: boolean; addPath: boolean }> = Object.fromEntries(
  [1, 4, 6, 7, 8, 9, 10, 11].map((subtype) => {
    const asBytes = [4, 7, 9, 11].includes(subtype) ? 4 : 2;
    return [subtype, { asBytes, sent: [6, 7, 10, 11].includes(subtype), addPath: subtype >= 8 }];
  }),
);

function bgp4mp(bytes: Bytes, subtype: number): Record<string, unknown> {
  const state = subtype === 0 || subtype === 5;
  const form = bgp4mpForms[subtype];
  if (!state && form === undefined) return { kind: "unread" };
  const asBytes = state ? (subtype === 0 ? 2 : 4) : (form as { asBytes: 2 | 4 }).asBytes;
  const bare = subtype === 0 && bytes.left === 8;
  const peerAs = bytes.uint(asBytes);
  const localAs = bytes.uint(asBytes);
  let session = { peer: { address: null as string | null, asn: peerAs }, local: { address: null as string | null, asn: localAs } };
  let marker = 16;
  if (!bare) {
    const index = bytes.uint(2);
    const afi = bytes.uint(2);
    if (!state && index === 65535 && afi === 65535) marker = 12;
    else if (afi !== 1 && afi !== 2) return { kind: "unread" };
    else {
      const version = afi === 1 ? 4 : 6;
      session = { peer: { address: address(bytes, version), asn: peerAs }, local: { address: address(bytes, version), asn: localAs } };
    }
  }
  if (state) {
    const states = { old_state: bytes.uint(2), new_state: bytes.uint(2) };
    bytes.empty();
    return { kind: "state-change", ...session, ...states };
  }
  const { sent, addPath } = form as { sent: boolean; addPath: boolean };
  const told = message(bytes, { asBytes, addPath, rib: null }, marker);
  return told.kind === "unread" ? told : { ...told, ...session, sent };
}

/** RFC 6396 Appendix B.2. */
function oldBgp(bytes: Bytes, subtype: number): Record<string, unknown> {
  const speaker = () => {
    const asn = bytes.uint(2);
    return { address: address(bytes, 4), asn };
  };
  if (subtype === 3) {
    const told = { kind: "state-change", peer: speaker(), old_state: bytes.uint(2), new_state: bytes.uint(2) };
    bytes.empty();
    return told;
  }
  if (subtype !== 1 && subtype !== 7) return { kind: "unread" };
  const session = { peer: speaker(), local: speaker(), sent: false };
  if (subtype === 7) return { kind: "keepalive", ...session };
  return { kind: "update", ...session, ...update(bytes, { asBytes: 2, addPath: false, rib: null }) };
}

/** RFC 6396 §4.2. */
function tableDump(bytes: Bytes, subtype: number): Record<string, unknown> {
  if (![1, 2, 3, 4].includes(subtype)) return { kind: "unread" };
  const version = subtype === 1 || subtype === 3 ? 4 : 6;
  const asBytes = subtype > 2 ? 4 : 2;
  bytes.uint(2);
  const sequence = bytes.uint(2);
  const network = bytes.take(version === 4 ? 4 : 16);
  const length = bytes.uint(1);
  if (length > (version === 4 ? 32 : 128)) throw new Refused("prefix length");
  const text = prefix(new Bytes(Uint8Array.from([length, ...network.list().slice(0, Math.ceil(length / 8))])), version);
  bytes.uint(1);
  const originated_at = bytes.uint(4);
  const peer = { address: address(bytes, version), asn: bytes.uint(asBytes) };
  const told = attributes(bytes.take(bytes.uint(2)), { asBytes, addPath: false, rib: version });
  bytes.empty();
  return { kind: "rib", sequence, prefix: text, routes: [{ peer, originated_at, attributes: attributesJson(told) }] };
}

interface SlowPeer {
  address: string;
  asn: number;
  bgp_id: string;
}

/** RFC 6396 §4.3.1. */
function peerIndex(bytes: Bytes): { collector_id: string; view: string; peers: SlowPeer[] } {
  const collector_id = address(bytes, 4);
  const view = new TextDecoder().decode(Uint8Array.from(bytes.take(bytes.uint(2)).list()));
  const count = bytes.uint(2);
  const peers = Array.from({ length: count }, () => {
    const type = bytes.uint(1);
    const bgp_id = address(bytes, 4);
    return { address: address(bytes, type % 2 === 1 ? 6 : 4), asn: bytes.uint(type % 4 >= 2 ? 4 : 2), bgp_id };
  });
  bytes.empty();
  return { collector_id, view, peers };
}

/** RFC 6396 §4.3.2 to §4.3.4, RFC 8050 §4. */
function rib(bytes: Bytes, version: 4 | 6, addPath: boolean, peers: readonly SlowPeer[] | null): Record<string, unknown> {
  if (peers === null) throw new Refused("no peers");
  const sequence = bytes.uint(4);
  const text = prefix(bytes, version);
  const count = bytes.uint(2);
  const routes: unknown[] = [];
  for (let entry = 0; entry < count; entry++) {
    const peer = peers[bytes.uint(2)];
    if (peer === undefined) throw new Refused("peer");
    const originated_at = bytes.uint(4);
    const path_id = addPath ? { path_id: bytes.uint(4) } : {};
    const told = attributes(bytes.take(bytes.uint(2)), { asBytes: 4, addPath, rib: version });
    routes.push({ peer: { address: peer.address, asn: peer.asn }, originated_at, ...path_id, attributes: attributesJson(told) });
  }
  bytes.empty();
  return { kind: "rib", sequence, prefix: text, routes };
}

/** Reads a whole file. Kinds that are not read have no more than `kind: "unread"`. */
export function slowlyDecoded(file: Uint8Array, recordBytesMax = 16 * 1024 * 1024): SlowFile {
  const readings: SlowReading[] = [];
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  let peers: SlowPeer[] | null = null;
  for (let offset = 0; offset < file.length; ) {
    if (file.length - offset < 12) return { readings, ending: "truncated" };
    const [type, subtype, length] = [view.getUint16(offset + 4), view.getUint16(offset + 6), view.getUint32(offset + 8)];
    if (length > recordBytesMax) return { readings, ending: "bad-header" };
    if (file.length - offset - 12 < length) return { readings, ending: "truncated" };
    const bytes = new Bytes(file.subarray(offset + 12, offset + 12 + length));
    const timestamp = view.getUint32(offset);
    try {
      const extra = type === 17 ? { microseconds: bytes.uint(4) } : {};
      let json: Record<string, unknown> = { kind: "unread" };
      if (type === 13 && subtype === 1) {
        peers = null;
        const table = peerIndex(bytes);
        peers = table.peers;
        json = { kind: "peer-index", ...table };
      } else if (type === 13 && [2, 4, 8, 10].includes(subtype)) {
        json = rib(bytes, subtype % 8 === 2 && subtype !== 10 ? 4 : subtype === 8 ? 4 : 6, subtype >= 8, peers);
      } else if (type === 16 || type === 17) json = bgp4mp(bytes, subtype);
      else if (type === 12) json = tableDump(bytes, subtype);
      else if (type === 5) json = oldBgp(bytes, subtype);
      const { malformed, ...rest } = json;
      const told = { offset, timestamp, ...extra, ...rest };
      readings.push(malformed === true ? { offset, refused: true, withdraws: told } : { offset, json: told });
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      readings.push({ offset, refused: true, withdraws: null });
    }
    offset += 12 + length;
  }
  return { readings, ending: null };
}
