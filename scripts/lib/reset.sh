# shellcheck shell=sh
# reset.sh: lets the agent take the node off before its binary goes, and names what only reset cleans.

# flexnode_reset: runs the reset of FLEXNODE_AGENT; without one there is nothing to run. A failed reset is E_RESET,
# with all that is needed to try again where it was, unless --ignore-reset-failure was given.
flexnode_reset() {
  if [ -z "$FLEXNODE_AGENT" ]; then
    # Without a unit no agent was ever started here.
    case $FLEXNODE_REST in *"|$FLEXNODE_UNIT_DIR/"*) flexnode_name_leftovers "there is no agent to reset the node" ;; esac
    return 0
  fi
  flexnode_say "running $FLEXNODE_AGENT reset"
  # It says what it keeps for us, which is not what is kept in the end.
  if [ -n "$FLEXNODE_OPT_VERBOSE" ]; then flexnode_wait flexnode_exec_reset; else flexnode_hushed flexnode_exec_reset; fi
  set -- "$?"
  if [ "$1" = 0 ]; then return 0; fi
  if [ -z "$FLEXNODE_OPT_IGNORE_RESET_FAILURE" ]; then
    flexnode_error E_RESET reset "$FLEXNODE_AGENT reset failed (status $1); agent, config, journal and units stay"
    return
  fi
  flexnode_name_leftovers "$FLEXNODE_AGENT reset failed (status $1)"
}

# The agent sets modes itself; Python must not write caches anywhere.
flexnode_exec_reset() {
  umask 022
  PYTHONDONTWRITEBYTECODE=1
  export PYTHONDONTWRITEBYTECODE
  exec "$FLEXNODE_AGENT" reset >&2
}

flexnode_describe_reset() { printf 'run %s reset\n' "$2"; }

# flexnode_name_leftovers WHY: what only reset cleans and is still there, in FLEXNODE_UNRESET, one a line. It does not
# hold the journal back: no later run could do anything about it.
flexnode_name_leftovers() {
  flexnode_warn "$1; machines, network and system settings are not cleaned"
  for flexnode_nl_name in $FLEXNODE_MACHINES; do
    flexnode_name_leftover "/var/lib/machines/$flexnode_nl_name" "/etc/systemd/nspawn/$flexnode_nl_name.nspawn" \
      "$FLEXNODE_UNIT_DIR/systemd-nspawn@$flexnode_nl_name.service.d"
  done
  flexnode_name_leftover /sys/class/net/wg518[2-9][0-9] /sys/class/net/geneve0 /sys/class/net/vxlan0 \
    /sys/class/net/ipip0 /sys/class/net/unbounded0 /sys/class/net/cbr0 /sys/class/net/localdns \
    /etc/wireguard/server.priv /etc/wireguard/server.pub
}

flexnode_name_leftover() { # PATH…
  for flexnode_nl_path in "$@"; do
    ! flexnode_exists "$flexnode_nl_path" ||
      FLEXNODE_UNRESET="$FLEXNODE_UNRESET$flexnode_nl_path: the agent's reset would have cleaned it$FLEXNODE_NEWLINE"
  done
}
