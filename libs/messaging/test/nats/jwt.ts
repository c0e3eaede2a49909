/** An operator, an account and users with JWTs, as `nsc` makes them: the least that nats-server takes. */

import { createHash } from "node:crypto";
import { nkeys } from "nats";

type KeyPair = ReturnType<typeof nkeys.createUser>;

export interface JwtServer {
  /** For nats-server. */
  readonly config: string;
  /** The text of a `.creds` file that expires in so many seconds. */
  credentials(seconds: number): string;
}

export function jwtServer(): JwtServer {
  const [operator, account] = [nkeys.createOperator(), nkeys.createAccount()];
  const operatorJwt = signed(operator, operator, "operator", {});
  const accountJwt = signed(operator, account, "account", {
    limits: { subs: -1, data: -1, payload: -1, imports: -1, exports: -1, wildcards: true, conn: -1, leaf: -1 },
  });
  return {
    config: `operator: "${operatorJwt}"\nresolver: MEMORY\nresolver_preload: { ${account.getPublicKey()}: "${accountJwt}" }`,
    credentials(seconds) {
      const user = nkeys.createUser();
      const jwt = signed(account, user, "user", { subs: -1, data: -1, payload: -1 }, Math.floor(Date.now() / 1_000) + seconds);
      const seed = new TextDecoder().decode(user.getSeed());
      return `-----BEGIN NATS USER JWT-----
${jwt}
------END NATS USER JWT------

-----BEGIN USER NKEY SEED-----
${seed}
------END USER NKEY SEED------
`;
    },
  };
}

function signed(issuer: KeyPair, subject: KeyPair, type: string, fields: object, expires?: number): string {
  const body = {
    iat: Math.floor(Date.now() / 1_000) - 7_200,
    iss: issuer.getPublicKey(),
    sub: subject.getPublicKey(),
    name: type,
    ...(expires !== undefined && { exp: expires }),
    nats: { ...fields, type, version: 2 },
  };
  const jti = createHash("sha256").update(JSON.stringify(body)).digest("hex");
  const text = [
    { typ: "JWT", alg: "ed25519-nkey" },
    { jti, ...body },
  ]
    .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
    .join(".");
  return `${text}.${Buffer.from(issuer.sign(Buffer.from(text))).toString("base64url")}`;
}
