/** Exit codes of `netfacts`: part of its contract with scripts, so a number never changes its meaning. */

export const exitCodes = {
  ok: 0,
  /** Failed for a reason that none of the others names; a fault of ours among them. */
  failed: 1,
  /** The command line, or a file of settings, is wrong: unknown option, missing argument, value out of bounds. */
  usage: 2,
  /** What was named does not exist: key, snapshot, file, data folder. */
  notFound: 3,
  /** Data were there and cannot be trusted: damaged store or snapshot, refused source. */
  untrusted: 4,
  /** Something needed is not to be had now: locked, not writable, disk full. Trying again can help. */
  unavailable: 5,
  /** Understood, and refused by a rule: the last admin key, a revoked key. Nothing was changed. */
  refused: 6,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** One line each, for `--help`. */
export const exitCodeHelp = `Exit codes:
  0  done
  1  failed
  2  the command line or a file of settings is wrong
  3  not found: key, snapshot, file or data folder
  4  data that cannot be trusted: a damaged store or snapshot, a refused source
  5  unavailable at the moment: locked, not writable, disk full
  6  refused by a rule; nothing was changed`;
