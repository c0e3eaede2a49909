#!/bin/sh
# Removes what `make build`, `make images`, `make check` and `make docs` make.
set -eu
cd "$(dirname -- "$0")/.."
rm -rf dist libs/*/dist services/*/dist docs/dist
