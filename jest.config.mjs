/** Jest: runs the TypeScript sources as they are; Node strips the types. Run it by `make test` or `node scripts/test.ts PATH…`. */

export default {
  testMatch: ["<rootDir>/{libs,services}/*/test/**/*.test.ts", "<rootDir>/{test,samples}/**/*.test.ts"],
  transform: {},
  injectGlobals: false,
  extensionsToTreatAsEsm: [".ts"],
  moduleFileExtensions: ["ts", "js", "mjs", "json", "node"],
  // Needs a cluster, and has a configuration of its own: make test-cluster.
  testPathIgnorePatterns: ["/node_modules/", "<rootDir>/test/cluster/"],
  modulePathIgnorePatterns: ["<rootDir>/.netfacts", "<rootDir>/dist/", "<rootDir>/(libs|services)/[^/]+/dist/"],
  testEnvironment: "<rootDir>/test/support/environment.js",
  testSequencer: "<rootDir>/test/support/sequencer.js",
  runtime: "<rootDir>/test/support/runtime.js",
  runner: "<rootDir>/test/support/runner.js",
  // Holds the times of the last run, too.
  cacheDirectory: "<rootDir>/node_modules/.cache/jest",
  globalSetup: "<rootDir>/test/support/global-setup.ts",
  globalTeardown: "<rootDir>/test/support/global-teardown.ts",
  // Ends what hangs. It is no promise: a busy machine takes many times as long as a quiet one.
  testTimeout: 300_000,
  // A worker keeps the modules of each file that it has run. A new worker loads the packages again, which takes about a second.
  workerIdleMemoryLimit: "500MB",
  // Half a second is the default, which a worker that leaves nothing open exceeds on a busy machine: Jest then reports a leak that is none.
  workerGracefulExitTimeout: 5_000,
};
