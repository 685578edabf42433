# shellcheck shell=sh
# place.sh: put the checked candidate where it wants to be. flexnode_inspect_target refuses what must be refused and
# proves the target before anything changes; flexnode_plan_place only emits records; the journal is written ahead.

# flexnode_inspect_target: after flexnode_check_candidate. Sets FLEXNODE_TARGET, FLEXNODE_PLACE (1: the candidate is
# not there yet), FLEXNODE_STAGED (a complete, synced copy in the target's file system, mode 0755), FLEXNODE_SWEEP (1:
# slots and links of a layout that was reset must go). Prints E_LAYOUT, E_DOWNGRADE or E_TARGET, returns that code.
flexnode_inspect_target() {
  flexnode_inspect_layout || return
  FLEXNODE_PLACE=1
  if [ -f "$FLEXNODE_TARGET" ] && [ -x "$FLEXNODE_TARGET" ]; then
    FLEXNODE_CANDIDATE_SUM=$(flexnode_sha256 "$FLEXNODE_CANDIDATE")
    [ "$(flexnode_sha256 "$FLEXNODE_TARGET")" != "$FLEXNODE_CANDIDATE_SUM" ] || FLEXNODE_PLACE=
  fi
  if [ -z "$FLEXNODE_PLACE" ]; then
    [ ! -L "$FLEXNODE_TARGET" ] || FLEXNODE_SWEEP=
    return 0
  fi
  flexnode_inspect_entry && flexnode_compare_versions && flexnode_prove_target
}

# flexnode_inspect_layout: the rows of the linking table that refuse; sets FLEXNODE_TARGET, FLEXNODE_HOLDS (1: the
# legacy root holds an agent or will), FLEXNODE_SWEEP and FLEXNODE_UNLINK (1: the host root is our link with nothing
# behind it, which a directory replaces). FLEXNODE_ROOT and FLEXNODE_LEGACY are known, and FLEXNODE_CONTINUES (1: what
# is deployed is from an unfinished attempt of ours, and may be replaced).
flexnode_inspect_layout() {
  FLEXNODE_TARGET=$FLEXNODE_ROOT/bin/$FLEXNODE_BINARY_NAME
  FLEXNODE_HOLDS=
  FLEXNODE_SWEEP=
  FLEXNODE_UNLINK=
  if flexnode_has_markers "$FLEXNODE_LEGACY_ROOT" || [ "$FLEXNODE_ROOT" = "$(flexnode_resolve "$FLEXNODE_LEGACY_ROOT")" ]; then
    FLEXNODE_HOLDS=1
  fi
  if [ -n "$FLEXNODE_CONTINUES" ] || ! flexnode_is_deployed; then FLEXNODE_SWEEP=1; fi
  if [ -z "$FLEXNODE_HOLDS$FLEXNODE_LEGACY" ] && flexnode_is_linked; then FLEXNODE_UNLINK=1; fi
  if [ -z "$FLEXNODE_LEGACY" ]; then
    flexnode_check_link "$FLEXNODE_HOLDS" && flexnode_check_one_root
  elif [ -d "$FLEXNODE_HOST_ROOT" ] && [ ! -L "$FLEXNODE_HOST_ROOT" ] && flexnode_has_markers "$FLEXNODE_HOST_ROOT"; then
    flexnode_check_link 1 # an old release beside a current one would be installed under both roots
  fi
}

# flexnode_check_one_root: an agent that knows nothing of the one under the legacy root would be installed beside it.
flexnode_check_one_root() {
  if flexnode_exists "$FLEXNODE_HOST_ROOT" || ! flexnode_has_markers "$FLEXNODE_LEGACY_ROOT" ||
    [ "$FLEXNODE_ROOT" = "$(flexnode_resolve "$FLEXNODE_LEGACY_ROOT")" ]; then return 0; fi
  flexnode_error E_LAYOUT layout \
    "an agent is installed under $FLEXNODE_LEGACY_ROOT, and this one goes to $FLEXNODE_ROOT" 'run uninstall.sh first'
}

# flexnode_is_deployed: is there the agent's unit, or is it active?
flexnode_is_deployed() {
  flexnode_exists "$FLEXNODE_UNIT_DIR/$FLEXNODE_AGENT_UNIT" && return
  [ -d /run/systemd/system ] && flexnode_has systemctl && flexnode_x systemctl is-active --quiet "$FLEXNODE_AGENT_UNIT"
}

# flexnode_inspect_entry: what stands at the target: nothing, a file, or the managed link of a layout after a reset.
flexnode_inspect_entry() {
  if [ -L "$FLEXNODE_TARGET" ]; then
    flexnode_ie_link=$(readlink -- "$FLEXNODE_TARGET" </dev/null 8>&- 9>&-)
    case $flexnode_ie_link in
      "$FLEXNODE_ROOT/lib/$FLEXNODE_LIB_NAME/$FLEXNODE_CURRENT" | "../lib/$FLEXNODE_LIB_NAME/$FLEXNODE_CURRENT" | \
        "$FLEXNODE_HOST_ROOT/lib/$FLEXNODE_LIB_NAME/$FLEXNODE_CURRENT" | \
        "$FLEXNODE_LEGACY_ROOT/lib/$FLEXNODE_LIB_NAME/$FLEXNODE_CURRENT") ;;
      *)
        flexnode_error E_LAYOUT target "$FLEXNODE_TARGET is an unexpected link to $flexnode_ie_link" 'remove it'
        return
        ;;
    esac
    [ -n "$FLEXNODE_SWEEP" ] || flexnode_error E_LAYOUT target \
      "$FLEXNODE_TARGET belongs to an agent that is set up on this host" \
      "run '$FLEXNODE_TARGET reset' first, or upgrade it if the new agent offers agent-upgrade"
  elif [ -e "$FLEXNODE_TARGET" ] && [ ! -f "$FLEXNODE_TARGET" ]; then
    flexnode_error E_LAYOUT target "$FLEXNODE_TARGET is not a file" 'move it away'
  fi
}

# flexnode_compare_versions: says when an older agent replaces a newer one; with --no-downgrade E_DOWNGRADE.
flexnode_compare_versions() {
  [ -f "$FLEXNODE_TARGET" ] && [ -x "$FLEXNODE_TARGET" ] || return 0
  flexnode_ask "$FLEXNODE_TARGET" version && flexnode_read_version || return 0 # nothing to compare with
  flexnode_cv_old=$FLEXNODE_RESULT
  flexnode_is_older "$FLEXNODE_CANDIDATE_VERSION" "$flexnode_cv_old" || return 0
  [ -z "$FLEXNODE_WANT_NO_DOWNGRADE" ] ||
    flexnode_error E_DOWNGRADE target "$flexnode_cv_old is installed, $FLEXNODE_CANDIDATE_VERSION is older" || return
  flexnode_say "replacing $flexnode_cv_old by the older $FLEXNODE_CANDIDATE_VERSION"
}

# flexnode_is_older A B: is version A older than B? Two that cannot be compared are not.
flexnode_is_older() (
  flexnode_is_version "$1" && flexnode_is_version "$2" || return 1
  flexnode_io_a=${1#v} flexnode_io_b=${2#v}
  flexnode_io_pre_a=${flexnode_io_a#"${flexnode_io_a%%-*}"} flexnode_io_pre_b=${flexnode_io_b#"${flexnode_io_b%%-*}"}
  IFS=.
  # shellcheck disable=SC2086 # split at the dots
  set -- ${flexnode_io_a%%-*} ${flexnode_io_b%%-*}
  [ "$1" -eq "$4" ] || { [ "$1" -lt "$4" ] && return 0 || return 1; }
  [ "$2" -eq "$5" ] || { [ "$2" -lt "$5" ] && return 0 || return 1; }
  [ "$3" -eq "$6" ] || { [ "$3" -lt "$6" ] && return 0 || return 1; }
  [ -n "$flexnode_io_pre_a" ] || return 1 # a release is not older than its own pre-releases
  [ -n "$flexnode_io_pre_b" ] || return 0
  flexnode_x expr "x$flexnode_io_pre_a" \< "x$flexnode_io_pre_b" >/dev/null
)

# flexnode_prove_target: the probe, then a whole copy beside the target: once it is there, the rest is renames.
flexnode_prove_target() {
  flexnode_pt_dir=$FLEXNODE_ROOT/bin
  [ -z "$FLEXNODE_UNLINK" ] || flexnode_pt_dir=${FLEXNODE_ROOT%/*} # not through the link that goes
  if [ -n "$FLEXNODE_LEGACY" ]; then
    flexnode_probe "$flexnode_pt_dir" E_TARGET target \
      "this release predates $FLEXNODE_HOST_ROOT and needs a writable $FLEXNODE_LEGACY_ROOT; use a newer release" || return
  else
    flexnode_probe "$flexnode_pt_dir" E_TARGET target || return
  fi
  flexnode_nearest_dir "$flexnode_pt_dir"
  flexnode_pt_dir=$FLEXNODE_RESULT
  FLEXNODE_STAGED=${flexnode_pt_dir%/}/${FLEXNODE_TEMP_PREFIX}new.$FLEXNODE_BINARY_NAME
  flexnode_refuse_dir "$FLEXNODE_STAGED" E_TARGET target || return
  flexnode_words cp -- "$FLEXNODE_CANDIDATE" "$FLEXNODE_STAGED" && flexnode_words chmod 0755 -- "$FLEXNODE_STAGED" &&
    flexnode_sync "$FLEXNODE_STAGED" && return
  flexnode_pt_words=$FLEXNODE_RESULT
  flexnode_x rm -f -- "$FLEXNODE_STAGED"
  flexnode_mount_of "$flexnode_pt_dir"
  flexnode_error E_TARGET target "cannot write the agent to $flexnode_pt_dir: $flexnode_pt_words: $FLEXNODE_RESULT"
}

# flexnode_ask_canonical: sets FLEXNODE_MAY_LINK: 1 when this agent's root, as released, is the host root, so that we
# may link. (An agent without that option does its own linking.)
flexnode_ask_canonical() {
  FLEXNODE_MAY_LINK=
  [ -z "$FLEXNODE_LEGACY" ] && [ -n "$FLEXNODE_HOLDS" ] || return 0
  flexnode_ask "$FLEXNODE_CANDIDATE" host-root --canonical || return 0
  IFS= read -r flexnode_ac_root <"$FLEXNODE_STAGING_DIR/answer"
  [ "$flexnode_ac_root" != "$FLEXNODE_HOST_ROOT" ] || FLEXNODE_MAY_LINK=1
}

# flexnode_plan_place: emits the records that install the agent, from what the inspection set. Changes nothing.
flexnode_plan_place() {
  [ -d "${FLEXNODE_ROOT%/*}" ] || flexnode_emit mkdir 0755 "${FLEXNODE_ROOT%/*}" -
  [ -z "$FLEXNODE_UNLINK" ] || flexnode_emit unlink - "$FLEXNODE_HOST_ROOT" -
  for flexnode_pp_dir in "$FLEXNODE_ROOT" "$FLEXNODE_ROOT/bin"; do # behind a link that goes there is neither
    [ -d "$flexnode_pp_dir" ] && [ -z "$FLEXNODE_UNLINK" ] || flexnode_emit mkdir 0755 "$flexnode_pp_dir" -
  done
  [ -z "$FLEXNODE_PLACE" ] || flexnode_emit move 0755 "$FLEXNODE_TARGET" "$FLEXNODE_STAGED"
  [ -z "$FLEXNODE_SWEEP" ] || flexnode_plan_sweep
  [ -z "$FLEXNODE_MAY_LINK" ] || flexnode_plan_link "$FLEXNODE_HOLDS"
  for flexnode_pp_dir in "$FLEXNODE_CONFIG_DIR" "$FLEXNODE_STATE_DIR" "$FLEXNODE_LOG_DIR"; do
    [ -d "$flexnode_pp_dir" ] && [ "$flexnode_pp_dir,$FLEXNODE_MADE_STATE" != "$FLEXNODE_STATE_DIR,1" ] ||
      flexnode_emit mkdir 0755 "$flexnode_pp_dir" -
  done
}

# flexnode_plan_sweep: emits the removal of the slots and links of a layout that was reset: a start would prefer them
# to the agent that was just placed.
flexnode_plan_sweep() {
  for flexnode_ps_name in current last-good blue green; do
    flexnode_ps_path=$FLEXNODE_ROOT/lib/$FLEXNODE_LIB_NAME/$FLEXNODE_BINARY_NAME-$flexnode_ps_name
    ! flexnode_exists "$flexnode_ps_path" || flexnode_emit unlink - "$flexnode_ps_path" -
  done
}

# flexnode_list_before CONFIG LOGDIR: (each may be empty) sets FLEXNODE_BEFORE to what stands at every known path, as it was before this run
# made the state directory. Prints E_INTERNAL and returns its code.
flexnode_list_before() {
  flexnode_known_paths "$FLEXNODE_ROOT" "$@"
  flexnode_lb_state=
  if [ -n "$FLEXNODE_MADE_STATE" ]; then
    flexnode_lb_mark=$FLEXNODE_NEWLINE$FLEXNODE_STATE_DIR$FLEXNODE_NEWLINE
    FLEXNODE_RESULT=${FLEXNODE_RESULT%%"$flexnode_lb_mark"*}$FLEXNODE_NEWLINE${FLEXNODE_RESULT#*"$flexnode_lb_mark"}
    flexnode_lb_state=$FLEXNODE_NEWLINE$(flexnode_emit absent - "$FLEXNODE_STATE_DIR" -)
  fi
  FLEXNODE_BEFORE=$(flexnode_before_records "$FLEXNODE_RESULT" "${FLEXNODE_UNLINK:+$FLEXNODE_HOST_ROOT}") ||
    flexnode_error E_INTERNAL journal 'cannot read what is on the host now' || return
  FLEXNODE_BEFORE=$FLEXNODE_BEFORE$flexnode_lb_state
}

# flexnode_perform ATTEMPT CONFIG LOGDIR RECORDS [PATH…]: writes the journal (FLEXNODE_BEFORE is there) and does the
# steps. Leaves the journal open. Prints the error and returns its code.
flexnode_perform() {
  flexnode_journal_write "$1" "$FLEXNODE_ROOT" "$2" "$3" "$FLEXNODE_BEFORE" "$4" || return
  FLEXNODE_CHANGED=
  flexnode_each flexnode_act "$4" || return
  flexnode_settle && flexnode_relabel
}

# flexnode_relabel: gives what was made its SELinux label. Only a warning: without SELinux in force nothing is wrong.
flexnode_relabel() {
  [ -e /sys/fs/selinux/enforce ] && flexnode_has restorecon || return 0
  flexnode_x restorecon "$FLEXNODE_ROOT" "$FLEXNODE_ROOT/bin" "$FLEXNODE_TARGET" "$FLEXNODE_CONFIG_DIR" \
    "$FLEXNODE_STATE_DIR" "$FLEXNODE_LOG_DIR" || flexnode_warn 'restorecon failed: SELinux may refuse to run the agent'
}

# flexnode_confirm_placed: is the candidate at its place, to the byte? Prints E_INTERNAL and returns its code.
flexnode_confirm_placed() {
  [ -x "$FLEXNODE_TARGET" ] && [ "$(flexnode_sha256 "$FLEXNODE_TARGET")" = "$(flexnode_sha256 "$FLEXNODE_CANDIDATE")" ] ||
    flexnode_error E_INTERNAL target "$FLEXNODE_TARGET is not what was placed"
}
