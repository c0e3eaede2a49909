/** Keys at the edge: the keyring turns an `Authorization` header and a client address into a verified key or a problem. */

export { createKeyring } from "./keyring.ts";
export { defaultKeyringSettings } from "./settings.ts";
export type { KeyChangeListener, KeyProblemCode, Keyring, KeyringOptions, KeyringSettings, Verification, VerifiedKey } from "./surface.ts";
