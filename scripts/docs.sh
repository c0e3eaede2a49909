#!/bin/sh
# Builds the documentation site into docs/.vitepress/dist. Its packages are the site's own, in docs/node_modules: nothing else needs them.
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)
. "$root/scripts/find-node.sh"
find_node
cd "$root/docs"

stamp=node_modules/.netfacts-installed
if ! cmp -s package-lock.json "$stamp"; then
  echo 'installing the packages of the site (once)' >&2
  log=$(mktemp)
  if ! run_npm install --no-save --no-audit --no-fund --no-progress >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    exit 1
  fi
  rm -f "$log"
  cp package-lock.json "$stamp"
fi

rm -rf .vitepress/dist
node node_modules/vitepress/bin/vitepress.js build .
node ../scripts/docs-site/foreign-requests.ts .vitepress/dist
echo "the site is in docs/.vitepress/dist; to see it, run npx vitepress preview in docs"
