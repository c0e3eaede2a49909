/**
 * Makes threads of tests load their module from the run's bundle, in a third of the time that the sources take. Tests start many threads: a pod
 * loads each snapshot in a new one.
 */

import { existsSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import threads from "node:worker_threads";
import { runFolderVariable } from "./run-folder.ts";

const root = resolve(import.meta.dirname, "../..");
const sources = `${pathToFileURL(root).href}/`;

/** Replaces `Worker` in the process of a Jest worker. */
export function startThreadsFromBundle(): void {
  const run = process.env[runFolderVariable];
  if (run === undefined || threads.Worker.name === "BundledWorker") return;
  const bundle = join(run, "bundle");

  /** URL of the same file in the bundle; the URL itself if the bundle does not have it. */
  const inBundle = (url: string): string => {
    if (!url.startsWith(sources)) return url;
    const path = join(bundle, relative(root, fileURLToPath(url)).replace(/\.ts$/, ".js"));
    return existsSync(path) ? pathToFileURL(path).href : url;
  };
  /** The data with its URLs replaced: one is of the module with which a thread opens a store. */
  const replaced = (data: unknown): unknown => {
    if (typeof data === "string") return inBundle(data);
    if (Object.prototype.toString.call(data) !== "[object Object]") return data;
    return Object.fromEntries(Object.entries(data as object).map(([key, value]) => [key, replaced(value)]));
  };

  threads.Worker = class BundledWorker extends threads.Worker {
    constructor(file: string | URL, { workerData, ...options }: threads.WorkerOptions = {}) {
      const isModule = typeof file !== "string";
      super(isModule ? new URL(inBundle(file.href)) : file, { ...options, workerData: isModule ? replaced(workerData) : workerData });
    }
  };
}
