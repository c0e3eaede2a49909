#!/bin/sh
# Removes what Netfacts wrote on this machine: state, packages, build output, downloads. Lists it and asks first; YES=1 does not ask.
# State that NETFACTS_HOME put elsewhere is left alone: only its owner knows what else is in that folder.
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)
cd "$root"

set --
for folder in .netfacts node_modules libs/*/node_modules services/*/node_modules dist libs/*/dist services/*/dist docs/node_modules docs/.vitepress/dist docs/.vitepress/cache "${XDG_CACHE_HOME:-${HOME:-}/.cache}/netfacts"; do
  [ -d "$folder" ] && set -- "$@" "$folder"
done
if [ $# -eq 0 ]; then
  echo 'nothing is installed'
  exit 0
fi

echo 'this removes:'
du -sh "$@"
if [ "${YES:-}" != 1 ]; then
  printf 'remove these? [y/N] '
  read -r answer || answer=''
  case $answer in
    y | Y | yes) ;;
    *)
      echo 'nothing was removed'
      exit 1
      ;;
  esac
fi
rm -rf -- "$@"
echo 'removed; only the repository is left'
