/**
 * Where a file of tests runs: a context of its own, as Jest makes it, but with an ordinary global object. Behind Jest's proxy every use of
 * `Math`, `Buffer` or `Uint8Array` is a call into C++ (docs/decisions/0027-tests-run-with-an-ordinary-global.md).
 */

import vm from "node:vm";
import { TestEnvironment } from "jest-environment-node";
import { startThreadsFromBundle } from "./bundled-threads.ts";

startThreadsFromBundle();

export default class OrdinaryGlobal extends TestEnvironment {
  constructor(config, context) {
    const { createContext } = vm;
    vm.createContext = () => createContext(vm.constants.DONT_CONTEXTIFY);
    try {
      super(config, context);
    } finally {
      vm.createContext = createContext;
    }
  }
}
