/**
 * The environment of a test file: a separate context like Jest's, but with an ordinary global object. With Jest's proxy, every use of `Math`,
 * `Buffer` or `Uint8Array` is a call into C++ (docs/decisions/0027-tests-run-with-an-ordinary-global.md).
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
