/** Made profiles of ASes for the samples, in the forms of PeeringDB and of an operator's corrections: neither has published them. */

function json(data: readonly object[]): string {
  return `${JSON.stringify({ data }, null, 1)}\n`;
}

/** Content by the name of the file. */
export const profileLists: Readonly<Record<string, string>> = {
  "peeringdb-net-made.json": json([
    { id: 1, org_id: 1, asn: 3333, name: "RIPE NCC", website: "https://www.ripe.net/", info_types: ["Non-Profit"], status: "ok" },
    { id: 2, org_id: 2, asn: 15169, name: "Google", website: "", info_types: [], status: "ok" },
    { id: 3, org_id: 3, asn: 37063, name: "Made ISP", website: "https://isp.example/", info_types: ["Cable/DSL/ISP"], status: "ok" },
    { id: 4, org_id: 4, asn: 20011, name: "Internet Solutions", website: "", info_types: ["NSP"], status: "ok" },
  ]),
  "peeringdb-org-made.json": json([
    { id: 1, name: "RIPE NCC", country: "NL", website: "https://www.ripe.net/", status: "ok" },
    { id: 2, name: "Google LLC", country: "US", website: "https://about.google/", status: "ok" },
    { id: 3, name: "Made Internet Services", country: "UG", website: "https://isp.example/", status: "ok" },
    { id: 4, name: "Internet Solutions", country: "ZA", website: "", status: "ok" },
  ]),
  "profiles-made.csv": `# Made for the samples of Netfacts: what an operator may correct.
asn,name,organisation,website,network_type
37063,,,https://www.isp.example/,
64512,,A private network,,enterprise
`,
};
