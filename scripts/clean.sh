#!/bin/sh
# Removes what `make build` and `make check` compile.
set -eu
cd "$(dirname -- "$0")/.."
rm -rf libs/*/dist services/*/dist
