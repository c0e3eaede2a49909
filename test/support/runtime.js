/**
 * Loads a test file from the bundle of the run with Node's own `import`. Each file has modules of the house of its own, and shares the packages with
 * the other files of its process (docs/decisions/0101-test-files-share-their-packages.md).
 */

import { createRequire, registerHooks } from "node:module";
import { pathToFileURL } from "node:url";
import Runtime from "jest-runtime";
import { bundledTest } from "./test-bundle.ts";
import { provideGlobals } from "./test-globals.js";

const require = createRequire(import.meta.url);
const globalsUrl = new URL("./test-globals.js", import.meta.url).href;
/** The end of the URLs of a test file and of all that it imports, but for packages. Node loads a module once for each URL. */
const ofOneFile = /\?file=\d+$/;
let fileCount = 0;

registerHooks({
  resolve(specifier, context, next) {
    if (specifier === "@jest/globals") return { url: globalsUrl, shortCircuit: true };
    const resolved = next(specifier, context);
    const [file] = ofOneFile.exec(context.parentURL ?? "") ?? [];
    const isPackage = !resolved.url.startsWith("file:") || resolved.url.includes("/node_modules/");
    return file === undefined || isPackage ? resolved : { ...resolved, url: `${resolved.url}${file}` };
  },
});

export default class SharedPackages extends Runtime {
  unstable_shouldLoadAsEsm() {
    return true;
  }

  unstable_importModule(path) {
    fileCount += 1;
    return import(`${pathToFileURL(bundledTest(this._config.rootDir, path)).href}?file=${fileCount}`);
  }

  /** Loads the module of Jest that collects and runs tests. It keeps those of one file, so each file gets a new one. */
  requireInternalModule(path) {
    delete require.cache[path];
    for (const kept of ["EVENT_HANDLERS", "TEST_TIMEOUT_SYMBOL"]) delete globalThis[Symbol.for(kept)];
    return require(path);
  }

  setGlobalsForRuntime(globals) {
    provideGlobals({ ...globals, jest: this.jestGlobals.jestObjectFor(this._testPath) });
  }
}
