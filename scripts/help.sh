#!/bin/sh
# The targets of a Makefile with the text behind their `##`: scripts/help.sh MAKEFILE.
set -eu
awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $1, $2 }' "$1"
