# shellcheck shell=sh
# progress.sh: how far a download is, on one line of a terminal that is redrawn and wiped in the end.

# flexnode_wants_progress: is there somebody who looks?
flexnode_wants_progress() { [ -t 2 ] && [ -z "$FLEXNODE_OPT_QUIET" ]; }

# flexnode_show_progress FILE: redraws the line until the child that downloads FILE has ended.
flexnode_show_progress() {
  while kill -0 "$FLEXNODE_CHILD" 2>/dev/null; do
    flexnode_draw_progress "$1"
    # Some know only whole seconds. (In a subshell: a trap that runs meanwhile would inherit the redirection.)
    (flexnode_x sleep 0.2) 2>/dev/null || flexnode_x sleep 1
  done
  flexnode_wipe_progress
}

# flexnode_draw_progress FILE: draws it once, if anything has come.
flexnode_draw_progress() {
  flexnode_dp_size=$(flexnode_x stat -c %s -- "$1" 2>/dev/null) || return
  flexnode_read_answer
  if [ "${FLEXNODE_HTTP_LENGTH:-0}" -lt "$flexnode_dp_size" ] || [ "$flexnode_dp_size" = 0 ]; then
    printf '\r%s: %s MiB' "$FLEXNODE_PROGRAM" $((flexnode_dp_size >> 20)) >&2
    return
  fi
  flexnode_dp_cells=$((flexnode_dp_size * 40 / FLEXNODE_HTTP_LENGTH))
  printf "\\r%s: %3s %% of %s MiB [%-40.${flexnode_dp_cells}s]" "$FLEXNODE_PROGRAM" \
    $((flexnode_dp_size * 100 / FLEXNODE_HTTP_LENGTH)) $((FLEXNODE_HTTP_LENGTH >> 20)) \
    '########################################' >&2
}
