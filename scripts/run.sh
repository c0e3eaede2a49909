#!/bin/sh
# Runs a program of this repository from its sources: scripts/run.sh FILE ARGUMENTS…; FILE is relative to the repository.
# Finds Node and Go and installs packages first. The process becomes the program: its signals and status are the program's.
set -eu
program=$1
shift
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)
. "$root/scripts/find-node.sh"
find_node
. "$root/scripts/install.sh"
. "$root/scripts/find-go.sh"
# What Node compiled of the sources is kept from one start to the next: a third of the time that a command takes.
export NODE_COMPILE_CACHE="${NODE_COMPILE_CACHE:-$cache/compiled}"
# Those that serve the files of the console and of the documentation as they are in this checkout.
case $program in
services/standalone/src/main.ts | services/gateway-auth-quota/src/main.ts | scripts/dev.ts) for site in console docs; do node --conditions=source "$root/scripts/build-$site.ts" --if-writable; done ;;
esac
exec node --conditions=source --disable-warning=ExperimentalWarning "$root/$program" "$@"
