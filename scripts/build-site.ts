/** Runs a build of pages as a command, also in a checkout that this user cannot write to. */

/** Argument of starts: they continue with the existing pages if these cannot be written. */
export const ifWritable = "--if-writable";

export interface SiteBuild {
  readonly build: () => Promise<unknown>;
  /** Path of the built folder, from the repository's root. */
  readonly place: string;
  /** Command that the repository's owner runs to build it. */
  readonly command: string;
}

/**
 * @param args  arguments of the command.
 * @param print  prints the line that says what could not be written, and what to do.
 * @returns the exit code. Throws all errors except a lack of permission to write.
 */
export async function buildSite(
  { build, place, command }: SiteBuild,
  args: readonly string[] = process.argv.slice(2),
  print: (line: string) => void = console.error,
): Promise<0 | 1> {
  try {
    await build();
    return 0;
  } catch (error) {
    if (!["EACCES", "EPERM", "EROFS"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
    const goesOn = args.includes(ifWritable);
    const start = goesOn ? "; the start continues with the pages that are there, which may be old or missing" : "";
    print(`netfacts: this user cannot write ${place}${start}. To build it, run \`${command}\` as the owner of the repository`);
    return goesOn ? 0 : 1;
  }
}
