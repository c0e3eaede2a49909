/** Settings of gateways under test: tests often request `/status` without a key, and expect changes in it at once. */

export const forTests = { KEYLESS_PER_SECOND_MAX: "1000000", REFUSALS_PER_SECOND_MAX: "1000000", STATUS_CACHE_MS: "0" };
