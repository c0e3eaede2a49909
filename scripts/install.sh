# Installs the packages of the lockfile into node_modules, once. To be sourced after find-node.sh; needs $program, the file that will run.
# The stamp holds what was installed and is written last; an install that was interrupted is begun anew.

modules=$root/node_modules
stamp=$modules/.netfacts-installed
unfinished=$modules/.netfacts-unfinished
install_log=$modules/.netfacts-install.log

all="node ${node_version%%.*}"
without_dev="$all, without packages that only development needs"

# Services and what builds their pages need no linter and no test runner: half of the packages suffice. None is removed that npm has installed.
select_packages() {
  wanted=$all
  case $program in
    services/*/src/* | scripts/build-console.ts | scripts/build-docs.ts) is_stamped "$all" || has_dev_packages || wanted=$without_dev ;;
  esac
}

# $1: which packages.
stamp_of() {
  echo "$1"
  cat "$root/package-lock.json"
}

is_stamped() {
  stamp_of "$1" | cmp -s - "$stamp"
}

has_dev_packages() {
  ! [ -e "$unfinished" ] && awk '/"dev": true/ { found = 1; exit } END { exit !found }' "$modules/.package-lock.json" 2>/dev/null
}

# Folders of the packages that the lockfile puts beside one of ours, as another version is in node_modules. Optional ones are for other platforms, mostly.
packages_beside() {
  left_out='optional|devOptional|peer'
  [ "$wanted" = "$all" ] || left_out="$left_out|dev"
  awk -F '"' -v left_out="^      \"($left_out)\": true" '
    /^    "[^"]+\/node_modules\/[^"]+": / && !/^    "node_modules\// { path = $2 }
    $0 ~ left_out { path = "" }
    /^    }/ { if (path != "") print path; path = "" }
  ' "$root/package-lock.json"
}

is_installed() {
  select_packages
  is_stamped "$wanted" || return 1
  for folder in $(packages_beside); do
    [ -d "$root/$folder" ] || return 1
  done
}

# Folders of the packages that only development needs.
dev_packages() {
  awk -F '"' '/^    "/ { path = $2 } /^      "dev": true/ && path ~ /node_modules\// { print path }' "$root/package-lock.json"
}

# A package that was cut off midway looks complete to npm, so nothing of such a try is kept. What a service needs stays while the rest is added to it.
install_packages() {
  if is_stamped "$without_dev" && [ "$wanted" = "$all" ]; then
    if [ -e "$unfinished" ]; then for folder in $(dev_packages); do rm -rf "${root:?}/$folder"; done; fi
  else
    if [ -e "$unfinished" ]; then
      find "$modules" -mindepth 1 -maxdepth 1 ! -name '.netfacts-*' -exec rm -rf {} +
      rm -rf "$root"/libs/*/node_modules "$root"/services/*/node_modules
    fi
    rm -f "$stamp"
  fi
  : >"$unfinished"
  echo 'installing packages (once)' >&2
  omit=
  [ "$wanted" = "$all" ] || omit=--omit=dev
  if ! (cd "$root" && run_npm install $omit --no-save --no-audit --no-fund --no-progress) >"$install_log" 2>&1; then
    cat "$install_log" >&2
    echo 'packages could not be installed; fix the cause shown above and run this again' >&2
    exit 1
  fi
  stamp_of "$wanted" >"$stamp.new"
  mv "$stamp.new" "$stamp"
  rm -f "$unfinished"
}

if ! is_installed; then
  if ! command -v npm >/dev/null; then
    echo "npm, which installs the packages, was not found beside $(command -v node); install npm and run this again" >&2
    exit 1
  fi
  if ! mkdir -p "$modules" 2>/dev/null; then
    echo "cannot write to $root; give this user write permission" >&2
    exit 1
  fi
  lock "$modules/.netfacts-lock"
  is_installed || install_packages
  unlock
fi
