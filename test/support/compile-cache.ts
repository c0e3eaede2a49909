/** Spread into the environment of a process: it finds what was compiled of the sources for others of this run, which halves the time it takes to start. */
const { NODE_COMPILE_CACHE } = process.env;

export const compileCache: Readonly<Record<string, string>> = NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE };
