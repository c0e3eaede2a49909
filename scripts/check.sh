#!/bin/sh
# Notes how the work tree stands before anything is installed, then runs every check.
set -eu
cd "$(dirname -- "$0")/.."
TREE_BEFORE=$(scripts/tree-state.sh)
export TREE_BEFORE
exec scripts/run.sh scripts/check.ts
