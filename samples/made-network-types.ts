/** Made lists of network types for the samples: nobody has published them. Their ranges are for documentation, but for a few well-known networks. */

const time = "2014-05-30T12:00:00";

function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** Content by the name of the file. */
export const networkTypeLists: Readonly<Record<string, string>> = {
  "network-types-made.csv": `# Made for the samples of Netfacts: no list of this kind was published.
resource,network_type,confidence
AS3333,non_profit,
AS15169,content hosting,
AS37063,isp,0.8
AS20011,isp hosting,0.7
8.8.8.0/24,anycast,0.9
198.51.100.0/24,enterprise vpn,0.7
`,
  "exits-made.txt": `# Made for the samples of Netfacts: these addresses are for documentation.
198.51.100.1
203.0.113.9
`,
  "crawler-made.json": json({
    creationTime: `${time}.000000`,
    prefixes: [{ ipv4Prefix: "198.51.100.0/25" }, { ipv6Prefix: "2001:db8:c::/48" }],
  }),
  "cloud-made.json": json({
    createDate: time.replaceAll(/[T:]/g, "-"),
    prefixes: ["AMAZON", "EC2"].map((service) => ({ ip_prefix: "198.51.100.0/24", region: "made-west-1", service })),
    ipv6_prefixes: [{ ipv6_prefix: "2001:db8:c000::/36", region: "made-west-1", service: "EC2" }],
  }),
};
