/** Zones for an authoritative server in tests: reverse zones of IPv4 and IPv6, one of them delegated by aliases (RFC 2317), and a forward zone. */

/** TTL of the records, and TTL and minimum of the SOA records. All differ, so that a test can tell which one was used. */
export const recordTtl = 3_600;
const soaTtl = 900;
export const soaMinimum = 120;

/** Names of `193.0.6.200`: more PTR records than fit into a datagram. */
export const manyNames = Array.from({ length: 90 }, (_, index) => `host-with-a-rather-long-name-${index + 10}.many.example`);

const head = (zone: string): string => `$ORIGIN ${zone}.
$TTL ${recordTtl}
@ ${soaTtl} IN SOA ns.example. host.example. 1 7200 900 86400 ${soaMinimum}
@ IN NS ns.example.
`;

/** Zone files by zone name. */
export const testZones: Readonly<Record<string, string>> = {
  example: `${head("example")}ns IN A 127.0.0.1
www IN A 193.0.6.139
www IN AAAA 2001:67c:2e8:22::c100:68b
`,
  // 139 has one name, which resolves to it; 140 has three, which do not resolve; 141 has a record but no name; others do not exist.
  "6.0.193.in-addr.arpa": `${head("6.0.193.in-addr.arpa")}139 IN PTR www.example.
140 300 IN PTR b.example.
140 300 IN PTR a.example.
140 300 IN PTR C.Example.
141 IN TXT "no name"
142 0 IN PTR fleeting.example.
143 IN CNAME 1.nowhere.example.
144 IN CNAME 145
145 IN CNAME 144
${manyNames.map((name) => `200 IN PTR ${name}.\n`).join("")}`,
  // The upper half is delegated to a zone of another operator.
  "7.0.193.in-addr.arpa": `${head("7.0.193.in-addr.arpa")}128/25 IN NS ns.example.
129 IN CNAME 129.128/25
130 60 IN CNAME 130.128/25
131 IN CNAME 131.128/25
`,
  "128/25.7.0.193.in-addr.arpa": `${head("128/25.7.0.193.in-addr.arpa")}129 IN PTR customer.example.
130 IN PTR short.example.
`,
  "8.e.2.0.c.7.6.0.1.0.0.2.ip6.arpa": `${head("8.e.2.0.c.7.6.0.1.0.0.2.ip6.arpa")}b.8.6.0.0.0.1.c.0.0.0.0.0.0.0.0.2.2.0.0 IN PTR www.example.
`,
};
