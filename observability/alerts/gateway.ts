/** Alerts on the gateway, its store, the services that it asks, and reverse DNS. */

import { type Alert, days, minutes, type Times } from "./alert.ts";

const gatewayReady = 'netfacts_ready{service="gateway-auth-quota"}';

/** Reverse DNS lookups that asked nameservers and got no usable answer; more than this share is not the fault of single names. */
const failedLookupsMax = 0.2;
const failedLookups = 'netfacts_rdns_lookups_total{hit="false",outcome=~"servfail|refused|timeout|unavailable|overloaded"}';

/** With fewer failures than this in the window, their share says nothing: a single one would last longer than the alert waits. */
const failuresMin = 10;

export function gatewayAlerts(time: Times): Alert[] {
  const window = time(5 * minutes);
  // A single event must leave the window before its alert has waited: a database that elects another primary is no reason to wake anybody.
  const repeats = time(2 * minutes);
  const repeatsHold = time(3 * minutes);
  return [
    {
      name: "NetfactsNoGatewayReady",
      // In a new installation gateways wait for the first import, and nobody depends on them.
      expr: `max by (namespace) (${gatewayReady}) == 0 and max by (namespace) (max_over_time(${gatewayReady}[${time(7 * days)}])) == 1`,
      holds: time(minutes),
      severity: "critical",
      summary: "No gateway is ready",
      description:
        "The platform sends no requests to gateways that are not ready. Callers get refused connections, or a 503 of the load balancer.",
    },
    {
      name: "NetfactsLimitStoreUnavailable",
      // A gateway that is not ready gets no requests, so rejections end while the store is still away.
      expr:
        `sum by (namespace) (rate(netfacts_limit_decisions_total{decision="limits_unavailable"}[${repeats}])) > 0` +
        " or min by (namespace) (netfacts_store_available) == 0",
      holds: repeatsHold,
      severity: "critical",
      summary: "Gateways cannot lease units of limits",
      description:
        "Keys whose units are used up get 503 limits_unavailable. A gateway that the store has refused for 15 s is not ready, and gets no requests.",
    },
    {
      name: "NetfactsStoreUnavailable",
      expr:
        `sum by (namespace, instance) (rate(netfacts_key_loads_total{outcome="failed"}[${repeats}]))` +
        ` + sum by (namespace, instance) (rate(netfacts_usage_writes_total{outcome="failed"}[${repeats}])) > 0` +
        " or min by (namespace, instance) (netfacts_store_available) == 0",
      holds: repeatsHold,
      severity: "critical",
      summary: "The gateway at {{ $labels.instance }} cannot use the database",
      description: "Known keys continue to work for a while. Other keys get 503, and usage is kept in memory.",
    },
    {
      name: "NetfactsLimitDebt",
      expr: `sum by (namespace) (increase(netfacts_limit_debt_units_total{event="written_off"}[${time(60 * minutes)}])) > 0`,
      holds: time(minutes),
      severity: "warning",
      summary: "Units that were admitted without the store were written off",
      description: "Some keys used more than their limit while the store was unavailable, by at most LIMITS_DEBT_MAX for each gateway.",
    },
    {
      name: "NetfactsConnectionsRefused",
      expr: `sum by (namespace, resource) (rate(netfacts_shortages_total{resource=~".*connections",reason="full"}[${repeats}])) > 0`,
      holds: repeatsHold,
      severity: "critical",
      summary: "Connections are refused, because all {{ $labels.resource }} of a gateway are in use",
      description: "New clients get 503 temporarily_overloaded. Refusals of one caller that has more than its share are not counted here.",
    },
    {
      name: "NetfactsPlacesNearlyUsed",
      expr: "netfacts_places_used / netfacts_places_max > 0.9",
      holds: time(10 * minutes),
      severity: "warning",
      summary: "{{ $value | humanizePercentage }} of the {{ $labels.resource }} at {{ $labels.instance }} are in use",
      description: "When all are in use, further connections or batches get 503.",
    },
    {
      name: "NetfactsServiceUnanswered",
      expr:
        `sum by (namespace, to) (rate(netfacts_requests_unanswered_total[${window}]))` +
        ` / sum by (namespace, to) (rate(netfacts_items_sent_total[${window}])) > 0.01` +
        ` and sum by (namespace, to) (increase(netfacts_requests_unanswered_total[${window}])) >= ${failuresMin}`,
      holds: time(3 * minutes),
      severity: "critical",
      summary: "{{ $value | humanizePercentage }} of the requests to {{ $labels.to }} end without a reply",
      description: "Callers get 503 or 504 for requests that need this service.",
    },
    {
      name: "NetfactsMessagesMalformed",
      expr:
        `sum by (namespace, service) (increase(netfacts_frames_refused_total[${time(10 * minutes)}])) > 0` +
        ` or sum by (namespace, service) (increase(netfacts_broadcasts_refused_total[${time(10 * minutes)}])) > 0`,
      holds: time(minutes),
      severity: "warning",
      summary: "{{ $labels.service }} receives messages that it cannot read",
      description: "A process of another version, or another program, publishes to the subjects of Netfacts at NATS.",
    },
    {
      name: "NetfactsResolversDown",
      expr: "max by (namespace, job, instance) (netfacts_rdns_nameserver_up) == 0",
      holds: time(2 * minutes),
      severity: "critical",
      summary: "No nameserver answers rdns-resolver at {{ $labels.instance }}",
      description: "Reverse DNS gets 503 resolver_unavailable, except for cached names. Other routes are not affected.",
    },
    {
      name: "NetfactsResolverDown",
      expr:
        "netfacts_rdns_nameserver_up == 0 and on (namespace, job, instance)" +
        " max by (namespace, job, instance) (netfacts_rdns_nameserver_up) == 1",
      holds: time(10 * minutes),
      severity: "warning",
      summary: "Nameserver {{ $labels.server }} does not answer",
      description: "The other nameservers of rdns-resolver take its queries.",
    },
    {
      name: "NetfactsReverseDnsFailing",
      expr:
        `sum by (namespace) (rate(${failedLookups}[${window}]))` +
        ` / sum by (namespace) (rate(netfacts_rdns_lookups_total{hit="false"}[${window}])) > ${failedLookupsMax}` +
        ` and sum by (namespace) (increase(${failedLookups}[${window}])) >= ${failuresMin}`,
      holds: time(15 * minutes),
      severity: "warning",
      summary: "{{ $value | humanizePercentage }} of the reverse DNS lookups fail",
      description: "Callers get records with a failed status, or 503, for names that are not cached.",
    },
  ];
}
