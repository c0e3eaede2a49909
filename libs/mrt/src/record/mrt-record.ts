/** One decoded MRT record, in the order of its bytes. Times are Unix seconds, addresses and AS numbers as in `Address`. */

import type { Address, Prefix } from "@netfacts/address";
import type { PathAttributes } from "../attribute/path-attributes.ts";
import type { Peer, PeerIndexTable } from "../peer-index-table.ts";
import type { RoutePrefix } from "./prefixes.ts";

/** The common header (RFC 6396 §2); `microseconds` only for types that have them (§3). */
export interface RecordHeader {
  /** Byte of the decompressed stream at which the record begins. */
  readonly offset: number;
  readonly timestamp: number;
  readonly microseconds: number | null;
  readonly type: number;
  readonly subtype: number;
}

/** One end of a session. The address is null if a writer left it out. */
export interface Speaker {
  readonly address: Address | null;
  readonly asn: number;
}

export interface Session {
  readonly peer: Speaker;
  /** The collector's end. Null if the record does not have it. */
  readonly local: Speaker | null;
}

export interface RibRoute {
  readonly peer: Pick<Peer, "address" | "asn">;
  readonly originatedAt: number;
  /** Null without ADD-PATH. */
  readonly pathId: number | null;
  readonly attributes: PathAttributes;
}

/** Routes of one prefix: a record of TABLE_DUMP_V2 has all of them, one of TABLE_DUMP has one. */
export interface RibBody {
  readonly kind: "rib";
  readonly sequence: number;
  readonly prefix: Prefix;
  readonly addPath: boolean;
  readonly routes: readonly RibRoute[];
}

export interface PeerIndexBody {
  readonly kind: "peer-index";
  readonly table: PeerIndexTable;
}

export interface UpdateBody {
  readonly kind: "update";
  readonly session: Session;
  /** Sent by the collector instead of received. */
  readonly sent: boolean;
  readonly addPath: boolean;
  readonly withdrawn: readonly RoutePrefix[];
  readonly attributes: PathAttributes;
  readonly announced: readonly RoutePrefix[];
}

export interface StateChangeBody {
  readonly kind: "state-change";
  readonly session: Session;
  /** RFC 4271 §8.2.2: 1 Idle … 6 Established; Quagga adds 7 Clearing and 8 Deleted. */
  readonly oldState: number;
  readonly newState: number;
}

export interface OpenBody {
  readonly kind: "open";
  readonly session: Session;
  readonly sent: boolean;
  readonly version: number;
  readonly asn: number;
  readonly holdTime: number;
  readonly bgpId: number;
  /** Optional parameters as hexadecimal digits. */
  readonly parameters: string;
}

export interface NotificationBody {
  readonly kind: "notification";
  readonly session: Session;
  readonly sent: boolean;
  readonly code: number;
  readonly subcode: number;
  /** As hexadecimal digits. */
  readonly data: string;
}

export interface OtherMessageBody {
  readonly kind: "keepalive" | "route-refresh";
  readonly session: Session;
  readonly sent: boolean;
}

/** A complete record of a kind that is not read. */
export interface UnreadBody {
  readonly kind: "unread";
  /** Its kind, as text for people: `TABLE_DUMP_V2 RIB_GENERIC`. */
  readonly what: string;
}

export type RecordBody =
  | PeerIndexBody
  | RibBody
  | UpdateBody
  | StateChangeBody
  | OpenBody
  | NotificationBody
  | OtherMessageBody
  | UnreadBody;

export interface MrtRecord {
  readonly header: RecordHeader;
  readonly body: RecordBody;
}

/** A record that violates its format. */
export interface BadRecord {
  readonly header: RecordHeader;
  readonly fault: {
    readonly code: string;
    readonly detail: string;
    /** Byte of the decompressed stream at which the fault was found. */
    readonly offset: number;
  };
  /**
   * An UPDATE with malformed attributes: all of its prefixes, including announced ones, count as withdrawn (RFC 7606 §2: treat-as-withdraw). Of its
   * attributes only the prefixes of MP_REACH_NLRI and MP_UNREACH_NLRI can be used. Null: nothing of the record can be used.
   */
  readonly asWithdrawn: UpdateBody | null;
  /** A copy of the record with its header. */
  readonly bytes: Uint8Array;
}
