/** Settings of every service that connects to other services. */

import Type, { type Static } from "typebox";

export const busConfigSchema = Type.Object({
  NATS_URL: Type.String({
    default: "nats://127.0.0.1:4222",
    minLength: 1,
    description: "Servers of one NATS cluster, separated by commas: nats://host:4222, or tls://host:4222 for TLS",
  }),
  NATS_USER: Type.String({ default: "", description: "NATS user; requires NATS_PASSWORD" }),
  NATS_PASSWORD: Type.String({ default: "", description: "Password of the NATS user" }),
  NATS_PASSWORD_FILE: Type.String({ default: "", description: "File with the password, read again for each connection" }),
  NATS_TOKEN: Type.String({ default: "", description: "NATS token, instead of a user" }),
  NATS_TOKEN_FILE: Type.String({ default: "", description: "File with the token, read again for each connection" }),
  NATS_NKEY_SEED: Type.String({ default: "", description: "NKey seed of a NATS user (SU...), instead of a password" }),
  NATS_NKEY_SEED_FILE: Type.String({ default: "", description: "File with the seed, read again for each connection" }),
  NATS_CREDS_FILE: Type.String({
    default: "",
    description: "File with the JWT and the seed of a NATS user (.creds), read again for each connection",
  }),
  NATS_CA_FILE: Type.String({
    default: "",
    description: "File with the CA certificates (PEM) that are trusted for NATS servers; if empty, those that Node trusts",
  }),
  NATS_CERT_FILE: Type.String({
    default: "",
    description: "File with the client certificate for NATS (PEM), read again for each connection",
  }),
  NATS_KEY_FILE: Type.String({ default: "", description: "File with the key of the client certificate (PEM)" }),
  NATS_ALLOW_UNAUTHENTICATED: Type.Boolean({
    default: false,
    description: "Allows NATS servers outside loopback that require no credentials",
  }),
});

export type BusConfig = Static<typeof busConfigSchema>;
