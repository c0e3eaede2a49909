#!/bin/sh
# The tools that are used here: where each was found, or what gets it. Looks only; needs no Node. Ends with status 1 when `make up` cannot run.
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)
. "$root/scripts/find-node.sh"
find_cache
status=0

row() {
  printf '%-8s  %-50s  %s\n' "$1" "$2" "$3"
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
  row node 'none yet: make up gets it' "$node_use"
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
on_path curl 'trying the printed line' 'apt-get install curl'

bgpdump_use='tests: the independent reading of MRT files'
if [ -n "${BGPDUMP:-}" ]; then
  row bgpdump "$BGPDUMP" "$bgpdump_use"
elif found=$(command -v bgpdump); then
  row bgpdump "$found" "$bgpdump_use"
elif [ -x "$cache/debs/bgpdump/usr/bin/bgpdump" ]; then
  row bgpdump "$cache/debs/bgpdump/usr/bin/bgpdump" "$bgpdump_use"
elif command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null; then
  row bgpdump 'none yet: make test gets it' "$bgpdump_use"
else
  row bgpdump 'missing: apt-get install bgpdump' "$bgpdump_use"
fi

exit "$status"
