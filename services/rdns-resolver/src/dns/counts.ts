/** What the DNS side counts; the app ties it to the metrics. */

/** Why a message from a nameserver was dropped. `unexpected`: no open question has its id, which late answers share with forged ones. */
export type DropReason = "too_short" | "unexpected" | "other_question" | "other_case" | "malformed" | "foreign_cookie" | "no_cookie";

export type Transport = "udp" | "tcp" | "tls";

export interface DnsCounts {
  asked(transport: Transport): void;
  dropped(reason: DropReason): void;
  /** A nameserver turned to answering or not answering. */
  health(server: string, up: boolean): void;
  /** There is no TLS connection to a nameserver, or not to it. */
  tlsRefused(server: string, cause: Error): void;
  /** A nameserver was measured. */
  latency(server: string, latencyMs: number): void;
  /** A nameserver does not echo the case of names, which then protects nothing. */
  caseLost(server: string): void;
}
