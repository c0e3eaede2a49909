/** Loads modules for a test file, and the file itself from the bundle of the run. */

import Runtime from "jest-runtime";
import { bundledTest } from "./test-bundle.ts";

export default class BundledRuntime extends Runtime {
  unstable_importModule(from, moduleName) {
    return super.unstable_importModule(moduleName === undefined ? bundledTest(this._config.rootDir, from) : from, moduleName);
  }
}
