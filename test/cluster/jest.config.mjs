/** Jest for `make test-cluster`: one file after another, on one cluster. */

import { join } from "node:path";

const support = join(import.meta.dirname, "../support");

export default {
  testMatch: ["<rootDir>/test/cluster/*.test.ts"],
  transform: {},
  injectGlobals: false,
  extensionsToTreatAsEsm: [".ts"],
  moduleFileExtensions: ["ts", "js", "mjs", "json", "node"],
  modulePathIgnorePatterns: ["<rootDir>/.netfacts", "<rootDir>/dist/", "<rootDir>/(libs|services)/[^/]+/dist/"],
  testEnvironment: join(support, "environment.js"),
  runtime: join(support, "runtime.js"),
  cacheDirectory: "<rootDir>/node_modules/.cache/jest-cluster",
  globalSetup: "<rootDir>/test/cluster/support/set-up.ts",
  globalTeardown: "<rootDir>/test/cluster/support/tear-down.ts",
  // Ends what hangs.
  testTimeout: 900_000,
};
