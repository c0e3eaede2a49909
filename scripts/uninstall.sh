#!/bin/sh
# Removes what Netfacts wrote on this machine: state, packages, build output, downloads. Lists it and asks first; YES=1 does not ask.
# State that NETFACTS_HOME put elsewhere is left alone: only its owner knows what else is in that folder.
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)
cd "$root"

downloads=${XDG_CACHE_HOME:-${HOME:-}/.cache}/netfacts
# Of the cluster of make test-cluster: number and start time of each process.
for file in "$downloads"/cluster/pids/*; do
  if read -r pid started 2>/dev/null <"$file" && [ "$started" = "$(awk '{sub(/.*\) /, ""); print $20}' "/proc/$pid/stat" 2>/dev/null)" ]; then
    echo "the cluster of make test-cluster runs: stop it first, with down.sh $downloads/cluster of the cluster tool"
    exit 1
  fi
done

# The file stays after a crash, and another process may have the number by now.
owner=$(awk -F '[:,}]' '{ print $2 + 0 }' .netfacts/owner.json 2>/dev/null) || owner=0
if [ "${owner:-0}" -gt 0 ]; then
  case $(ps -o args= -p "$owner" 2>/dev/null) in
    *services/standalone/*)
      echo "Netfacts runs on .netfacts (process $owner): stop it first, with Ctrl-C in its terminal or kill $owner"
      exit 1
      ;;
  esac
fi

set --
for folder in .netfacts node_modules libs/*/node_modules services/*/node_modules dist libs/*/dist services/*/dist docs/dist "$downloads"; do
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
