/**
 * The environment of a test file: the process itself, so that values of the house, of packages and of Node have the same prototypes. After the file,
 * environment variables and what is called at the end of the process are as before, and Jest restores what the file spied on.
 */

import { syncBuiltinESMExports } from "node:module";
import { ModernFakeTimers } from "@jest/fake-timers";
import { ModuleMocker } from "jest-mock";
import { startThreadsFromBundle } from "./bundled-threads.ts";

startThreadsFromBundle();
// Modules that import `Worker` by name see the replaced one.
syncBuiltinESMExports();

export default class SharedProcess {
  global = globalThis;
  moduleMocker = new ModuleMocker(globalThis);
  #variables = { ...process.env };
  #exit = process.exit;
  #exitListeners = process.listeners("exit");

  constructor({ projectConfig }) {
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
  }

  async setup() {}

  async teardown() {
    this.fakeTimersModern.dispose();
    // Jest replaces it for each file.
    process.exit = this.#exit;
    // Modules of the house add one each time that they are loaded.
    for (const listener of process.listeners("exit")) if (!this.#exitListeners.includes(listener)) process.off("exit", listener);
    for (const name of Object.keys(process.env)) if (!(name in this.#variables)) delete process.env[name];
    Object.assign(process.env, this.#variables);
  }

  /** Null: there is no other context. */
  getVmContext() {
    return null;
  }
}
