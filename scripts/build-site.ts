/** How the commands that build pages for a start end in a checkout that this user cannot write. */

/** For a start: it goes on with the pages that are there. */
export const ifWritable = "--if-writable";

export interface SiteBuild {
  readonly build: () => Promise<unknown>;
  /** What is built, from the repository's root. */
  readonly place: string;
  /** What its owner runs. */
  readonly command: string;
}

/**
 * @param args  of the command.
 * @param print  is given the line that says what could not be written, and what to do.
 * @returns the exit code. Throws what is wrong otherwise.
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
