#!/bin/sh
# Runs when the agent's unit has failed. If an upgrade was under way (its signal file is there), the agent that was
# last known to be good is asked to go back to itself; an ordinary failure changes nothing. Leans on nothing but
# coreutils and systemctl. Exit: 0 nothing to do or recovered, else the last failing status.
set -u
PATH=/usr/sbin:/usr/bin:/sbin:/bin
export PATH

signal=/etc/aks-flex-node/agent-upgrade-signal.json
unit=aks-flex-node-agent.service
current=/usr/local/lib/aks-flex-node/aks-flex-node-current
last_good=/usr/local/lib/aks-flex-node/aks-flex-node-last-good

say() { printf 'aks-flex-node-recovery: %s\n' "$1" >&2; }

main() {
  [ -f "$signal" ] || return 0
  good=$(readlink -f -- "$last_good") || good=
  if [ -z "$good" ] || [ ! -x "$good" ]; then
    say "manual: $last_good leads to no executable agent; nothing was changed"
    return 1
  fi
  if [ "$good" = "$(readlink -f -- "$current")" ]; then
    say "manual: the agent that failed is the last good one; nothing was changed"
    return 1
  fi
  status=0
  "$good" recover-agent-upgrade --message "$unit failed" || {
    status=$?
    say "$good recover-agent-upgrade: exit status $status"
  }
  systemctl reset-failed -- "$unit" || say "systemctl reset-failed was refused"
  systemctl --no-block restart -- "$unit" || {
    status=$?
    say "systemctl restart: exit status $status"
  }
  return "$status"
}

main
exit $?
