/** Exit codes of `netfacts`. Scripts rely on them, so a number never changes its meaning. */

export const exitCodes = {
  ok: 0,
  /** Failed for another reason, such as a defect of the program. */
  failed: 1,
  /** The command line or a settings file is invalid: unknown option, missing argument, value out of range. */
  usage: 2,
  /** The named key, snapshot, file or data folder does not exist. */
  notFound: 3,
  /** Data cannot be trusted: damaged store or snapshot, refused source. */
  untrusted: 4,
  /** Something is temporarily unavailable: locked, not writable, disk full. A retry can help. */
  unavailable: 5,
  /** Refused by a rule: the last admin key, a revoked key. Nothing was changed. */
  refused: 6,
  /** Ended by Ctrl-C (SIGINT). */
  interrupted: 130,
  /** Ended by SIGTERM. */
  terminated: 143,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** One line each, for `--help`. */
export const exitCodeHelp = `Exit codes:
  0  success
  1  failure
  2  invalid command line or settings file
  3  not found: key, snapshot, file or data folder
  4  untrusted data: a damaged store or snapshot, or a rejected source
  5  temporarily unavailable: locked, not writable, or disk full
  6  not allowed; nothing was changed
  130  ended by Ctrl-C (SIGINT)
  143  ended by SIGTERM`;
