/** Events that the DNS side counts; the app connects them to the metrics. */

/** Reason for dropping a message from a nameserver. `unexpected`: no open question has its id, so the answer is late or forged. */
export type DropReason = "too_short" | "unexpected" | "other_question" | "other_case" | "malformed" | "foreign_cookie" | "no_cookie";

export type Transport = "udp" | "tcp" | "tls";

export interface DnsCounts {
  asked(transport: Transport): void;
  dropped(reason: DropReason): void;
  /** A nameserver began or stopped answering. */
  health(server: string, up: boolean): void;
  /** A TLS connection to a nameserver failed, or its certificate was refused. */
  tlsRefused(server: string, cause: Error): void;
  /** A nameserver was measured. */
  latency(server: string, latencyMs: number): void;
  /** A nameserver does not echo the case of names, which then gives no protection. */
  caseLost(server: string): void;
}
