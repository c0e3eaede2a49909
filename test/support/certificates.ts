/** Certificates for tests, made by openssl: an authority, and certificates that it signs. */

import { execFileSync } from "node:child_process";
import { join } from "node:path";

export interface Certificate {
  /** PEM files. */
  readonly certificate: string;
  readonly key: string;
}

export interface Authority extends Certificate {
  /** `days`: negative for an expired certificate. `names`: in the form of openssl, `DNS:localhost,IP:127.0.0.1`. */
  issue(name: string, options?: { readonly days?: number; readonly names?: string }): Certificate;
}

/** @param folder  folder for its files; the caller removes it. */
export function makeAuthority(folder: string, name: string, days = 2): Authority {
  const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  const filesOf = (of: string) => ({ certificate: join(folder, `${of}.pem`), key: join(folder, `${of}.key`) });
  const openssl = (...args: string[]) => execFileSync("openssl", args, { stdio: ["ignore", "pipe", "ignore"] });
  const own = filesOf(name);
  openssl("req", "-x509", ...newKey, "-days", `${days}`, "-subj", `/CN=${name}`, "-keyout", own.key, "-out", own.certificate);
  return {
    ...own,
    issue(of, { days = 2, names = "DNS:localhost,IP:127.0.0.1" } = {}) {
      const files = filesOf(of);
      const request = join(folder, `${of}.csr`);
      openssl("req", ...newKey, "-subj", `/CN=${of}`, "-addext", `subjectAltName=${names}`, "-keyout", files.key, "-out", request);
      const by = ["-CA", own.certificate, "-CAkey", own.key, "-copy_extensions", "copy"];
      openssl("x509", "-req", "-in", request, ...by, "-days", `${days}`, "-out", files.certificate);
      return files;
    },
  };
}
