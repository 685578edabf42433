# shellcheck shell=sh
# plan.sh: what uninstall would do now, as records for the loop of steps.sh. Pure: it looks and prints. Planning runs
# in one subshell; FLEXNODE_GOING is the list of what is going, so that a directory is known to become empty.
# Kinds: stop, reload (units.sh); aside, park, remove, empty, restore, unpark, forget, keep, leave (act.sh).

# flexnode_go PATH: emits the removal of what stands there, or why it stays.
flexnode_go() {
  ! flexnode_is_listed "$1" "$FLEXNODE_GOING" || return 0
  if flexnode_is_on_network "$1"; then
    flexnode_emit leave - "$1" "on a network mount, not touched"
    return 0
  fi
  flexnode_exists "$1" || return 0
  if flexnode_passes_link "$1"; then
    flexnode_emit keep - "$1" "behind a link that is not ours, not followed"
    return 0
  fi
  if flexnode_is_odd "$1" && flexnode_is_listed "$1" "$FLEXNODE_ENTRIES" &&
    ! flexnode_is_listed "$1" "$FLEXNODE_DIRS"; then
    flexnode_emit keep - "$1" "not a file, where the agent has one"
    return 0
  fi
  FLEXNODE_GOING=$FLEXNODE_GOING$1$FLEXNODE_NEWLINE
  flexnode_emit remove - "$1" -
}

# flexnode_plan_first: the first boot unit, before anything else can be started by it.
flexnode_plan_first() {
  FLEXNODE_GOING=$FLEXNODE_NEWLINE
  flexnode_plan_units "$FLEXNODE_FIRST_BOOT_UNIT"
  [ -z "$FLEXNODE_OPT_KEEP_CONFIG" ] || [ -z "$FLEXNODE_AGENT" ] || flexnode_plan_park
}

# flexnode_plan_park: the agent's reset removes the directory of the config: copies are made first.
flexnode_plan_park() {
  ! flexnode_is_on_network "$FLEXNODE_CONFIG_DIR" || return 0
  for flexnode_pa_entry in "$FLEXNODE_CONFIG_DIR"/*; do
    ! flexnode_is_kept_config "$flexnode_pa_entry" || ! flexnode_exists "$flexnode_pa_entry" ||
      flexnode_emit park - "$flexnode_pa_entry" "$FLEXNODE_STATE_DIR/kept"
  done
}

# flexnode_plan_rest: all but the first boot unit and the reset. The journal is last: until then the next run knows all.
# (After it only the lock's file, which no run needs to find; whoever waits for the lock notices, see lock.sh.)
flexnode_plan_rest() {
  FLEXNODE_GOING=$FLEXNODE_NEWLINE
  FLEXNODE_ASKED=$FLEXNODE_NEWLINE
  [ -z "$FLEXNODE_J_INVALID" ] || flexnode_emit aside - "$FLEXNODE_JOURNAL" "$FLEXNODE_J_INVALID"
  # shellcheck disable=SC2086 # a list of names
  flexnode_plan_units $FLEXNODE_UNITS
  FLEXNODE_TRACE=$FLEXNODE_J_ROOT$FLEXNODE_AGENT${FLEXNODE_GOING#"$FLEXNODE_NEWLINE"}
  flexnode_plan_temporary
  flexnode_plan_data
  flexnode_for_roots flexnode_plan_layout
  flexnode_plan_root "$FLEXNODE_AGENT_ROOT"
  flexnode_for_roots flexnode_plan_root
  flexnode_plan_library
  flexnode_plan_made
  flexnode_plan_journal
  flexnode_go "$FLEXNODE_LOCK"
}

# flexnode_for_roots FUNCTION: calls it with each root.
flexnode_for_roots() {
  flexnode_fo_rest=${FLEXNODE_ROOTS#"$FLEXNODE_NEWLINE"}
  while [ -n "$flexnode_fo_rest" ]; do
    "$1" "${flexnode_fo_rest%%"$FLEXNODE_NEWLINE"*}"
    flexnode_fo_rest=${flexnode_fo_rest#*"$FLEXNODE_NEWLINE"}
  done
}

# flexnode_plan_temporary: names that a killed run left.
flexnode_plan_temporary() {
  flexnode_te_rest=${FLEXNODE_TEMP_DIRS#"$FLEXNODE_NEWLINE"}
  while [ -n "$flexnode_te_rest" ]; do
    flexnode_te_dir=${flexnode_te_rest%%"$FLEXNODE_NEWLINE"*}
    flexnode_te_rest=${flexnode_te_rest#*"$FLEXNODE_NEWLINE"}
    ! flexnode_is_on_network "$flexnode_te_dir" || continue
    for flexnode_te_file in "$flexnode_te_dir/$FLEXNODE_TEMP_PREFIX"*; do
      ! flexnode_exists "$flexnode_te_file" || flexnode_go "$flexnode_te_file"
    done
  done
}

# flexnode_plan_library: what the agent's library wrote below /etc/unbounded.
flexnode_plan_library() {
  for flexnode_pl_name in $FLEXNODE_MACHINES; do
    flexnode_go "$FLEXNODE_LIBRARY_CONFIG_DIR/agent/$flexnode_pl_name-applied-config.json"
    flexnode_go "$FLEXNODE_LIBRARY_CONFIG_DIR/agent/$flexnode_pl_name-applied-config.json.sha256"
  done
  flexnode_go "$FLEXNODE_LIBRARY_CONFIG_DIR/kube/nftables-clear.nft"
  flexnode_plan_dir "$FLEXNODE_LIBRARY_CONFIG_DIR/agent" name
  flexnode_plan_dir "$FLEXNODE_LIBRARY_CONFIG_DIR/kube" name
  flexnode_plan_dir "$FLEXNODE_LIBRARY_CONFIG_DIR" name
}

# flexnode_plan_layout ROOT: binary, slots, links, helpers.
flexnode_plan_layout() {
  [ -d "$1" ] || return 0
  flexnode_la_skip=$1/bin/$FLEXNODE_BINARY_NAME
  if flexnode_is_on_network "$flexnode_la_skip" || flexnode_is_layout_entry "$flexnode_la_skip"; then
    flexnode_la_skip=
  else
    flexnode_emit keep - "$flexnode_la_skip" "a link that is not ours"
  fi
  set -f
  IFS=$FLEXNODE_NEWLINE
  # shellcheck disable=SC2046 # one path a line
  set -- "$1" $(flexnode_layout_files "$1")
  IFS=' 	
'
  set +f
  flexnode_la_root=$1
  shift
  for flexnode_la_file in "$@"; do
    [ "$flexnode_la_file" = "$flexnode_la_skip" ] || flexnode_go "$flexnode_la_file"
  done
  flexnode_plan_dir "$flexnode_la_root/lib/$FLEXNODE_LIB_NAME" name
}

# flexnode_plan_root ROOT: the directories of a root, then the root itself. The legacy root and its directories are the
# host's, unless the journal says that they were absent (flexnode_plan_made); our link to it goes.
flexnode_plan_root() {
  if [ "$1" = "$FLEXNODE_LEGACY" ]; then
    for flexnode_ro_link in "$FLEXNODE_AGENT_ROOT" "$FLEXNODE_HOST_ROOT"; do
      [ -L "$flexnode_ro_link" ] || continue
      [ "$(readlink -- "$flexnode_ro_link" </dev/null 8>&- 9>&-)" != "$FLEXNODE_LEGACY_ROOT" ] || flexnode_go "$flexnode_ro_link"
    done
    return 0
  fi
  [ "$1" != "$FLEXNODE_AGENT_ROOT" ] || flexnode_go "$1/.moving"
  # Empty directories alone are no trace of an agent: without a journal nobody knows who made them.
  case $FLEXNODE_TRACE,$FLEXNODE_GOING in ,*"$FLEXNODE_NEWLINE$1/"* | ?*,*) ;; *) return 0 ;; esac
  for flexnode_ro_dir in bin lib libexec; do flexnode_plan_dir "$1/$flexnode_ro_dir" name; done
  # The target of a link that is not ours stays.
  if [ -L "$FLEXNODE_HOST_ROOT" ] && [ "$1" != "$FLEXNODE_AGENT_ROOT" ]; then return 0; fi
  if flexnode_holds_empty_dirs "$1"; then
    for flexnode_ro_dir in "$1"/* "$1"/.[!.]* "$1"/..?*; do flexnode_plan_dir "$flexnode_ro_dir" ''; done
  fi
  flexnode_plan_dir "$1" name
}

# flexnode_holds_empty_dirs ROOT: is nothing in ROOT but what is going and directories that are empty?
flexnode_holds_empty_dirs() {
  for flexnode_ho_entry in "$1"/* "$1"/.[!.]* "$1"/..?*; do
    flexnode_exists "$flexnode_ho_entry" || continue
    ! flexnode_is_listed "$flexnode_ho_entry" "$FLEXNODE_GOING" || continue
    flexnode_is_listed "$flexnode_ho_entry" "$FLEXNODE_DIRS" && ! flexnode_has_entries "$flexnode_ho_entry" || return
  done
}

# flexnode_plan_dir DIR NAME: emits its removal when all in it is going and it was not there before us. Else, when NAME
# is not empty, each entry that is not ours is named.
flexnode_plan_dir() {
  if flexnode_is_on_network "$1" || [ -L "$1" ] || [ ! -d "$1" ]; then return 0; fi
  flexnode_di_foreign=
  [ -z "$2" ] || FLEXNODE_ASKED=$FLEXNODE_ASKED$1$FLEXNODE_NEWLINE
  for flexnode_di_entry in "$1"/* "$1"/.[!.]* "$1"/..?*; do
    flexnode_exists "$flexnode_di_entry" || continue
    ! flexnode_is_listed "$flexnode_di_entry" "$FLEXNODE_GOING" || continue
    flexnode_di_foreign=1
    # A directory that this function was asked about names its own entries.
    if [ -z "$2" ] || flexnode_is_listed "$flexnode_di_entry" "$FLEXNODE_ASKED"; then continue; fi
    flexnode_is_listed "$flexnode_di_entry" "$FLEXNODE_WAS_DIR$FLEXNODE_ENTRIES" ||
      flexnode_emit keep - "$flexnode_di_entry" "not ours"
  done
  if [ -n "$flexnode_di_foreign" ] || flexnode_is_listed "$1" "$FLEXNODE_WAS_DIR"; then return 0; fi
  if flexnode_is_mount "$1"; then
    flexnode_emit keep - "$1" "a mount point"
  else
    flexnode_go "$1"
  fi
}

# flexnode_plan_data: the directories that are ours as a whole. Empty ones alone are no trace of an agent: without a
# journal nobody knows who made them, so they go only together with something else.
flexnode_plan_data() {
  flexnode_go "$FLEXNODE_AGENT_ROOT.staging"
  flexnode_da_rest=${FLEXNODE_CONFIGS#"$FLEXNODE_NEWLINE"}
  while [ -n "$flexnode_da_rest" ]; do
    flexnode_da_config=${flexnode_da_rest%%"$FLEXNODE_NEWLINE"*}
    case $flexnode_da_config in
      "$FLEXNODE_CONFIG_DIR"/*) ;; # goes with the directory
      *) [ -n "$FLEXNODE_OPT_KEEP_CONFIG" ] || flexnode_plan_config "$flexnode_da_config" ;;
    esac
    flexnode_da_rest=${flexnode_da_rest#*"$FLEXNODE_NEWLINE"}
  done
  flexnode_plan_tree "$FLEXNODE_CONFIG_DIR"
  if [ -d "$FLEXNODE_STATE_DIR/kept" ] && [ -n "$FLEXNODE_OPT_KEEP_CONFIG" ]; then
    flexnode_emit unpark - "$FLEXNODE_CONFIG_DIR" "$FLEXNODE_STATE_DIR/kept"
  fi
  flexnode_da_rest=${FLEXNODE_LOG_DIRS#"$FLEXNODE_NEWLINE"}
  while [ -n "$flexnode_da_rest" ]; do
    flexnode_plan_tree "${flexnode_da_rest%%"$FLEXNODE_NEWLINE"*}"
    flexnode_da_rest=${flexnode_da_rest#*"$FLEXNODE_NEWLINE"}
  done
}

# flexnode_plan_config FILE: a config that the journal names can be anywhere, so its content must be that of a config.
flexnode_plan_config() {
  if ! flexnode_is_on_network "$1" && [ -f "$1" ] && ! flexnode_looks_like_json "$1"; then
    flexnode_emit keep - "$1" 'the journal names it as the config, but it is something else'
  else
    flexnode_go "$1"
  fi
}

# flexnode_plan_tree DIR: a directory of ours goes; one that was there before us is emptied and put back as it was.
flexnode_plan_tree() {
  if flexnode_is_on_network "$1"; then
    flexnode_go "$1"
  elif [ -L "$1" ]; then
    flexnode_emit keep - "$1" "a link where the agent has a directory"
  elif [ -e "$1" ] && [ ! -d "$1" ]; then
    flexnode_emit keep - "$1" "a file where the agent has a directory"
  elif [ "$1" = "$FLEXNODE_CONFIG_DIR" ] && [ -n "$FLEXNODE_OPT_KEEP_CONFIG" ] && [ -d "$1" ]; then
    flexnode_plan_all_but_config
  elif flexnode_is_listed "$1" "$FLEXNODE_WAS_DIR" || { flexnode_is_mount "$1" && flexnode_exists "$1"; }; then
    ! flexnode_has_entries "$1" || flexnode_emit empty - "$1" -
  elif flexnode_has_entries "$1" || [ -n "$FLEXNODE_TRACE" ]; then
    flexnode_go "$1"
  fi
  flexnode_plan_mounts "$1"
}

# flexnode_plan_mounts DIR: what is mounted below stays.
flexnode_plan_mounts() {
  flexnode_has_mount_below "$1" || return 0
  flexnode_mo_rest=${FLEXNODE_MOUNTS#"$FLEXNODE_NEWLINE"}
  while [ -n "$flexnode_mo_rest" ]; do
    flexnode_mo_point=${flexnode_mo_rest%%//*}
    flexnode_mo_rest=${flexnode_mo_rest#*"$FLEXNODE_NEWLINE"}
    case $flexnode_mo_point in "$1"/*) flexnode_emit leave - "$flexnode_mo_point" "a mount point, not entered" ;; esac
  done
}

# flexnode_is_kept_config PATH: does --keep-config keep it?
flexnode_is_kept_config() {
  case $1 in "$FLEXNODE_CONFIG_PATH" | "$FLEXNODE_CREDENTIALS_DIR") return 0 ;; esac
  flexnode_is_listed "$1" "$FLEXNODE_CONFIGS"
}

flexnode_plan_all_but_config() {
  for flexnode_al_entry in "$FLEXNODE_CONFIG_DIR"/* "$FLEXNODE_CONFIG_DIR"/.[!.]* "$FLEXNODE_CONFIG_DIR"/..?*; do
    flexnode_exists "$flexnode_al_entry" || continue
    flexnode_is_kept_config "$flexnode_al_entry" || flexnode_go "$flexnode_al_entry"
  done
}

# flexnode_plan_made: directories that were absent before us go when nothing else came into them; those that were there
# and are gone (the agent's reset removes some whole) come back.
flexnode_plan_made() {
  flexnode_ma_rest=${FLEXNODE_WAS_ABSENT#"$FLEXNODE_NEWLINE"}
  while [ -n "$flexnode_ma_rest" ]; do
    flexnode_ma_dir=${flexnode_ma_rest%%"$FLEXNODE_NEWLINE"*}
    flexnode_ma_rest=${flexnode_ma_rest#*"$FLEXNODE_NEWLINE"}
    flexnode_is_listed "$flexnode_ma_dir" "$FLEXNODE_TREES" || flexnode_plan_dir "$flexnode_ma_dir" ''
  done
  flexnode_each flexnode_plan_restore "$FLEXNODE_J_BEFORE"
}

# flexnode_plan_restore KIND MODE PATH DETAIL: for flexnode_each.
flexnode_plan_restore() {
  if flexnode_is_on_network "$3"; then return 0; fi
  case $1 in
    dir) if flexnode_is_listed "$3" "$FLEXNODE_TREES" || ! flexnode_exists "$3"; then flexnode_emit restore "$2" "$3" "$4"; fi ;;
    link) ! flexnode_is_listed "$3" "$FLEXNODE_TREES" || flexnode_exists "$3" || flexnode_emit restore - "$3" "$4" ;;
  esac
}

# flexnode_plan_journal: the state directory, and in it the journal after all else.
flexnode_plan_journal() {
  if flexnode_is_on_network "$FLEXNODE_STATE_DIR" || [ -L "$FLEXNODE_STATE_DIR" ]; then
    flexnode_plan_tree "$FLEXNODE_STATE_DIR"
    return 0
  fi
  if flexnode_was_state_there; then flexnode_jo_verb=empty; else flexnode_jo_verb=remove; fi
  for flexnode_jo_entry in "$FLEXNODE_STATE_DIR"/* "$FLEXNODE_STATE_DIR"/.[!.]* "$FLEXNODE_STATE_DIR"/..?*; do
    case $flexnode_jo_entry in "$FLEXNODE_JOURNAL" | "$FLEXNODE_JOURNAL.invalid") continue ;; esac
    # The mark says, like the journal, that the directory is ours: it goes with it.
    [ "$flexnode_jo_entry,$flexnode_jo_verb" = "$FLEXNODE_STAGING_DIR,remove" ] || flexnode_go "$flexnode_jo_entry"
  done
  flexnode_plan_mounts "$FLEXNODE_STATE_DIR"
  if [ ! -d "$FLEXNODE_STATE_DIR" ]; then return 0; fi
  if [ "$flexnode_jo_verb" = empty ] && ! flexnode_has_entries "$FLEXNODE_STATE_DIR"; then return 0; fi
  flexnode_emit forget - "$FLEXNODE_STATE_DIR" "$flexnode_jo_verb"
}

# flexnode_was_state_there: was the state directory there before us? The journal says so; without one, a directory with
# nothing but an unmarked staging directory or a probe is one that install.sh found and did not make (see agent.sh).
flexnode_was_state_there() {
  ! flexnode_is_listed "$FLEXNODE_STATE_DIR" "$FLEXNODE_WAS_DIR" || return 0
  if [ -n "$FLEXNODE_TRACE" ] || [ -f "$FLEXNODE_STATE_DIR/$FLEXNODE_STAGING_MARK" ]; then return 1; fi
  for flexnode_ws_entry in "$FLEXNODE_STATE_DIR"/* "$FLEXNODE_STATE_DIR"/.[!.]* "$FLEXNODE_STATE_DIR"/..?*; do
    case $flexnode_ws_entry in "$FLEXNODE_STAGING_DIR" | "$FLEXNODE_STATE_DIR/$FLEXNODE_TEMP_PREFIX"*) continue ;; esac
    ! flexnode_exists "$flexnode_ws_entry" || return
  done
}
