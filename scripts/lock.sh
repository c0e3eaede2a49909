# A lock between processes, for scripts: lock FILE waits for its turn, unlock ends it. To be sourced.
# The lock is a symbolic link to its owner's process number: made in one step, and told apart from one whose owner is gone.

lock_seconds_max=900

lock() {
  lock=$1
  waited=0
  if ! [ -w "$(dirname "$lock")" ]; then
    echo "cannot write to $(dirname "$lock"); give this user write permission" >&2
    exit 1
  fi
  until ln -s "$$" "$lock" 2>/dev/null; do
    owner=$(readlink "$lock") || continue
    # Another user's process answers no signal, but shows in /proc.
    if ! kill -0 "$owner" 2>/dev/null && ! [ -d "/proc/$owner" ]; then
      rm -f "$lock"
      continue
    fi
    [ "$waited" -ne 0 ] || echo "waiting for process $owner, which is installing" >&2
    if [ "$waited" -ge "$lock_seconds_max" ]; then
      echo "process $owner still holds $lock: stop it, or remove the lock if that process is not an installation" >&2
      exit 1
    fi
    sleep 1
    waited=$((waited + 1))
  done
  trap unlock EXIT
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM
}

unlock() {
  rm -f "$lock"
  trap - EXIT HUP INT TERM
}
