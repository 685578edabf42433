# shellcheck shell=sh
# units.sh: stops and removes the agent's units. Files and links (a mask is one) go by hand, which is the same on a
# booted host, in a chroot, and where a dangling or masked unit makes `systemctl disable` fail. systemd, where it
# runs, is asked to stop what is active and to forget the rest.

# flexnode_has_systemd: did systemd boot this host?
flexnode_has_systemd() { [ -d /run/systemd/system ] && flexnode_has systemctl; }

# flexnode_find_unit_files UNIT: sets FLEXNODE_RESULT to the file of UNIT (or its mask) and every link that enables it,
# one a line.
flexnode_find_unit_files() {
  FLEXNODE_RESULT=
  for flexnode_un_dir in "$FLEXNODE_UNIT_DIR" /run/systemd/system; do
    for flexnode_un_file in "$flexnode_un_dir"/*.wants/"$1" "$flexnode_un_dir"/*.requires/"$1" \
      "$flexnode_un_dir"/*.upholds/"$1" "$flexnode_un_dir/$1"; do
      ! flexnode_exists "$flexnode_un_file" || FLEXNODE_RESULT=$FLEXNODE_RESULT$flexnode_un_file$FLEXNODE_NEWLINE
    done
  done
}

# flexnode_plan_units UNIT…: emits what takes them off; nothing for units that left no trace.
flexnode_plan_units() {
  flexnode_un_found=
  if flexnode_has_systemd; then flexnode_plan_stops "$@"; fi
  for flexnode_un_name in "$@"; do
    flexnode_find_unit_files "$flexnode_un_name"
    flexnode_un_rest=$FLEXNODE_RESULT
    while [ -n "$flexnode_un_rest" ]; do
      flexnode_un_found=1
      flexnode_go "${flexnode_un_rest%%"$FLEXNODE_NEWLINE"*}"
      flexnode_un_rest=${flexnode_un_rest#*"$FLEXNODE_NEWLINE"}
    done
    for flexnode_un_file in "$FLEXNODE_UNIT_DIR/$flexnode_un_name.d"/*; do
      ! flexnode_exists "$flexnode_un_file" || flexnode_emit keep - "$flexnode_un_file" "a drop-in is not ours"
    done
  done
  [ -z "$flexnode_un_found" ] || ! flexnode_has_systemd || flexnode_emit reload - "$FLEXNODE_UNIT_DIR" "$*"
}

# flexnode_plan_stops UNIT…: emits the stops of the units that systemd knows to be anything but inactive.
flexnode_plan_stops() {
  flexnode_un_states=$(systemctl is-active -- "$@" 2>/dev/null </dev/null 8>&- 9>&-)
  for flexnode_un_state in $flexnode_un_states; do
    case $flexnode_un_state in
      inactive | unknown | failed) ;;
      *) flexnode_emit stop - "$1" - ;;
    esac
    [ "$flexnode_un_state" != failed ] || flexnode_un_found=1
    shift
  done
}

flexnode_describe_stop() { printf 'stop %s\n' "$2"; }
flexnode_describe_reload() { printf 'let systemd forget %s\n' "$3"; }

# stop: the first boot unit is disabled by the same call, so that no reload can start it again.
flexnode_act_stop() {
  if [ "$2" = "$FLEXNODE_FIRST_BOOT_UNIT" ] && flexnode_exists "$FLEXNODE_UNIT_DIR/$2"; then
    flexnode_x systemctl disable --now -- "$2" 2>/dev/null && return
  fi
  flexnode_attempt "$2" systemctl stop -- "$2" || return 0
}

# reload: ARGUMENT is the units; a failed one would stay known to systemd without a file.
flexnode_act_reload() {
  flexnode_attempt "$2" systemctl daemon-reload || return 0
  for flexnode_un_name in $3; do
    flexnode_x systemctl is-failed --quiet -- "$flexnode_un_name" 2>/dev/null || continue
    flexnode_attempt "$flexnode_un_name" systemctl reset-failed -- "$flexnode_un_name"
  done
  return 0
}
