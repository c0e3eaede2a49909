/** Settings of gateways under test: they ask `/status` often, without a key, and want to see a change at once. */

export const forTests = { KEYLESS_PER_SECOND_MAX: "1000000", REFUSALS_PER_SECOND_MAX: "1000000", STATUS_CACHE_MS: "0" };
