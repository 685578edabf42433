# shellcheck shell=sh
# sweep.sh: what of ours can be on this host: the roots, the agent that can reset it, and the lists that remove.sh
# works by. Looks, changes nothing.

# flexnode_inspect: reads mounts, journal and config, and sets all that planning needs. Returns 0, or the code of the
# error that it printed. FLEXNODE_J_INVALID: why there is a journal that is not obeyed.
flexnode_inspect() {
  FLEXNODE_CHANGED=
  FLEXNODE_LEFT=$FLEXNODE_NEWLINE
  FLEXNODE_KEPT=$FLEXNODE_NEWLINE
  flexnode_read_mounts || return
  if flexnode_is_on_network "$FLEXNODE_JOURNAL"; then flexnode_journal_forget; else flexnode_journal_read; fi
  FLEXNODE_J_INVALID=$FLEXNODE_J_REASON
  [ -z "$FLEXNODE_J_ROOT" ] || FLEXNODE_J_INVALID=
  FLEXNODE_WAS_ABSENT=$FLEXNODE_NEWLINE
  FLEXNODE_WAS_DIR=$FLEXNODE_NEWLINE
  flexnode_each flexnode_note_before "$FLEXNODE_J_BEFORE"
  flexnode_set_roots
  flexnode_set_trees
  flexnode_set_entries
  flexnode_set_dirs
}

# flexnode_note_before KIND MODE PATH DETAIL: for flexnode_each. The last path comes first: parents after children.
flexnode_note_before() {
  case $1 in
    absent) FLEXNODE_WAS_ABSENT=$FLEXNODE_NEWLINE$3$FLEXNODE_WAS_ABSENT ;;
    dir) FLEXNODE_WAS_DIR=$FLEXNODE_NEWLINE$3$FLEXNODE_WAS_DIR ;;
  esac
}

# flexnode_set_roots: sets FLEXNODE_ROOTS (resolved, each once, the legacy root last), FLEXNODE_LEGACY (resolved), and
# FLEXNODE_AGENT_ROOT: later official releases keep their own host root in /opt/unbounded/agent.
flexnode_set_roots() {
  FLEXNODE_ROOTS=$FLEXNODE_NEWLINE
  FLEXNODE_LEGACY=$FLEXNODE_LEGACY_ROOT
  ! flexnode_safe_resolve "$FLEXNODE_LEGACY_ROOT" || FLEXNODE_LEGACY=$FLEXNODE_RESULT
  FLEXNODE_AGENT_ROOT=$FLEXNODE_HOST_ROOT/agent
  ! flexnode_safe_resolve "$FLEXNODE_HOST_ROOT" || FLEXNODE_AGENT_ROOT=$FLEXNODE_RESULT/agent
  for flexnode_ro_root in "$FLEXNODE_HOST_ROOT" "$FLEXNODE_J_ROOT" "$FLEXNODE_AGENT_ROOT"; do
    [ -n "$flexnode_ro_root" ] || continue
    flexnode_safe_resolve "$flexnode_ro_root" || continue
    case $FLEXNODE_RESULT in "$FLEXNODE_LEGACY" | "$FLEXNODE_LEGACY"/agent) continue ;; esac
    flexnode_is_listed "$FLEXNODE_RESULT" "$FLEXNODE_ROOTS" || FLEXNODE_ROOTS=$FLEXNODE_ROOTS$FLEXNODE_RESULT$FLEXNODE_NEWLINE
  done
  flexnode_is_on_network "$FLEXNODE_LEGACY" || FLEXNODE_ROOTS=$FLEXNODE_ROOTS$FLEXNODE_LEGACY$FLEXNODE_NEWLINE
}

# flexnode_safe_resolve ROOT: sets FLEXNODE_RESULT to ROOT resolved; returns 1 and puts ROOT on record when it is, or is
# a link to, something on a network mount, which is not looked at.
flexnode_safe_resolve() {
  if flexnode_is_on_network "$1"; then
    flexnode_leave "$1" "on a network mount, not touched"
    return 1
  fi
  flexnode_rs_target=$1
  # shellcheck disable=SC2034 # only counts
  for flexnode_rs_hop in 1 2 3 4 5 6 7 8; do # a link may lead to a link; a circle of them ends here too
    [ -L "$flexnode_rs_target" ] || break
    flexnode_follow "$flexnode_rs_target"
    flexnode_rs_target=$FLEXNODE_RESULT
    if flexnode_is_on_network "$flexnode_rs_target"; then
      flexnode_leave "$1" "a link to a network mount ($flexnode_rs_target), not touched"
      return 1
    fi
  done
  FLEXNODE_RESULT=$(flexnode_resolve "$1")
}

# flexnode_follow LINK: sets FLEXNODE_RESULT to where LINK leads, as an absolute path without `.` and `..`, by its text
# alone.
flexnode_follow() {
  flexnode_fw_rest=$(readlink -- "$1" </dev/null 8>&- 9>&-)
  case $flexnode_fw_rest in /*) ;; *) flexnode_fw_rest=${1%/*}/$flexnode_fw_rest ;; esac
  flexnode_fw_rest=$flexnode_fw_rest/
  FLEXNODE_RESULT=
  while [ -n "$flexnode_fw_rest" ]; do
    flexnode_fw_part=${flexnode_fw_rest%%/*}
    flexnode_fw_rest=${flexnode_fw_rest#*/}
    case $flexnode_fw_part in
      '' | .) ;;
      ..) FLEXNODE_RESULT=${FLEXNODE_RESULT%/*} ;;
      *) FLEXNODE_RESULT=$FLEXNODE_RESULT/$flexnode_fw_part ;;
    esac
  done
}

# flexnode_set_trees: sets FLEXNODE_TREES, and FLEXNODE_LOG_DIRS, the directories of logs among them. A configured one
# that may hold other people's files is put on record.
flexnode_set_trees() {
  # shellcheck disable=SC2153 # FLEXNODE_LOG_DIR is the constant
  FLEXNODE_LOG_DIRS=$FLEXNODE_NEWLINE$FLEXNODE_LOG_DIR$FLEXNODE_NEWLINE
  flexnode_find_config_log_dir
  for flexnode_tr_dir in "$FLEXNODE_J_LOGDIR" "$FLEXNODE_RESULT"; do
    if [ -z "$flexnode_tr_dir" ] || flexnode_is_listed "$flexnode_tr_dir" "$FLEXNODE_LOG_DIRS"; then continue; fi
    if flexnode_is_own_log_dir "$flexnode_tr_dir"; then
      FLEXNODE_LOG_DIRS=$FLEXNODE_LOG_DIRS$flexnode_tr_dir$FLEXNODE_NEWLINE
    else
      flexnode_keep "$flexnode_tr_dir" "the configured log directory was there before, or belongs to the system"
    fi
  done
  FLEXNODE_TREES=$FLEXNODE_LOG_DIRS$FLEXNODE_CONFIG_DIR$FLEXNODE_NEWLINE$FLEXNODE_STATE_DIR$FLEXNODE_NEWLINE
  FLEXNODE_TREES=$FLEXNODE_TREES$FLEXNODE_AGENT_ROOT.staging$FLEXNODE_NEWLINE
}

# flexnode_find_config_log_dir: sets FLEXNODE_RESULT to agent.logDir of the config, or to nothing. The host may have no
# JSON tool any more, and nothing worse than a directory that stays comes from a config too odd for this.
flexnode_find_config_log_dir() {
  flexnode_cl_file=${FLEXNODE_J_CONFIG:-$FLEXNODE_CONFIG_PATH}
  if flexnode_is_on_network "$flexnode_cl_file" || [ ! -f "$flexnode_cl_file" ]; then flexnode_cl_file=/dev/null; fi
  FLEXNODE_RESULT=
  while IFS= read -r flexnode_cl_line || [ -n "$flexnode_cl_line" ]; do
    case $flexnode_cl_line in *'"logDir"'*:*'"'*'"'*) ;; *) continue ;; esac
    flexnode_cl_line=${flexnode_cl_line#*'"logDir"'}
    flexnode_cl_line=${flexnode_cl_line#*'"'}
    FLEXNODE_RESULT=${flexnode_cl_line%%'"'*}
    case $FLEXNODE_RESULT in *\\*) FLEXNODE_RESULT= ;; *?/) FLEXNODE_RESULT=${FLEXNODE_RESULT%/} ;; esac
    return 0
  done <"$flexnode_cl_file"
}

# flexnode_is_own_log_dir DIR: may DIR go as a whole? Not when it was there before us, nor when it holds anything else
# of ours or of the system. Without a journal that says that we made it, its name must say so.
flexnode_is_own_log_dir() {
  flexnode_is_clean_path "$1" || return
  ! flexnode_is_listed "$1" "$FLEXNODE_WAS_DIR" || return
  for flexnode_ow_path in "$FLEXNODE_HOST_ROOT" "$FLEXNODE_LEGACY_ROOT" "$FLEXNODE_CONFIG_DIR" "$FLEXNODE_STATE_DIR" \
    "$FLEXNODE_LOG_DIR" "$FLEXNODE_UNIT_DIR" "${FLEXNODE_J_CONFIG:-$FLEXNODE_CONFIG_PATH}" /usr/bin /var/log/journal; do
    case $flexnode_ow_path/ in "$1"/*) return 1 ;; esac
  done
  case $1 in /*/*) ;; *) return 1 ;; esac
  case $1 in /home/*/* | /var/log/* | /var/*/*) ;; /home/* | /var/*) return 1 ;; esac # not somebody's home, /var/cache, …
  case $1 in /bin/* | /boot/* | /dev/* | /etc/* | /lib*/* | /proc/* | /sbin/* | /sys/* | /usr/*) return 1 ;; esac
  ! flexnode_is_listed "$1" "$FLEXNODE_WAS_ABSENT" || return 0
  case $1 in
    /var/log/* | */*flex-node*) return 0 ;;
    *) return 1 ;;
  esac
}

# flexnode_layout ROOT: sets FLEXNODE_RESULT to the places of an agent below ROOT, one a line: the one that is in use
# first, and links before what they lead to, so that, removed in this order, none dangles.
flexnode_layout() {
  FLEXNODE_RESULT=$1/bin/$FLEXNODE_BINARY_NAME$FLEXNODE_NEWLINE
  for flexnode_la_name in "$FLEXNODE_CURRENT" "$FLEXNODE_LAST_GOOD" "$FLEXNODE_BINARY_NAME-blue" "$FLEXNODE_BINARY_NAME-green"; do
    FLEXNODE_RESULT=$FLEXNODE_RESULT$1/lib/$FLEXNODE_LIB_NAME/$flexnode_la_name$FLEXNODE_NEWLINE
  done
}

# flexnode_layout_files ROOT: sets FLEXNODE_RESULT to these and the helpers that an agent has below ROOT.
flexnode_layout_files() {
  flexnode_layout "$1"
  for flexnode_la_name in "lib/$FLEXNODE_LIB_NAME/$FLEXNODE_RECOVERY_SCRIPT" bin/unbounded-agent-nspawn-lifecycle \
    libexec/unbounded-localdns-network; do
    FLEXNODE_RESULT=$FLEXNODE_RESULT$1/$flexnode_la_name$FLEXNODE_NEWLINE
  done
}

# flexnode_set_entries: sets FLEXNODE_ENTRIES, FLEXNODE_UNITS and FLEXNODE_CONFIGS (every config that bootstrap wrote).
flexnode_set_entries() {
  FLEXNODE_UNITS="$FLEXNODE_AGENT_UNIT $FLEXNODE_RECOVERY_UNIT $FLEXNODE_LOCALDNS_UNIT"
  # shellcheck disable=SC2153 # FLEXNODE_J_CONFIGS is the journal's
  FLEXNODE_CONFIGS=$FLEXNODE_NEWLINE$FLEXNODE_J_CONFIGS
  FLEXNODE_ENTRIES=$(
    IFS=$FLEXNODE_NEWLINE
    for flexnode_en_root in "$FLEXNODE_HOST_ROOT" "$FLEXNODE_LEGACY_ROOT" $FLEXNODE_ROOTS; do
      flexnode_layout_files "$flexnode_en_root"
      printf '%s' "$FLEXNODE_RESULT"
    done
    IFS=' '
    for flexnode_en_name in $FLEXNODE_FIRST_BOOT_UNIT $FLEXNODE_UNITS; do
      flexnode_find_unit_files "$flexnode_en_name"
      printf '%s%s\n' "$FLEXNODE_RESULT" "$FLEXNODE_UNIT_DIR/$flexnode_en_name"
    done
    for flexnode_en_name in $FLEXNODE_MACHINES; do
      printf '%s\n' "$FLEXNODE_LIBRARY_CONFIG_DIR/agent/$flexnode_en_name-applied-config.json" \
        "$FLEXNODE_LIBRARY_CONFIG_DIR/agent/$flexnode_en_name-applied-config.json.sha256"
    done
    printf '%s\n' "$FLEXNODE_LIBRARY_CONFIG_DIR/kube/nftables-clear.nft" \
      "$FLEXNODE_HOST_ROOT" "$FLEXNODE_AGENT_ROOT" "$FLEXNODE_AGENT_ROOT/.moving" "$FLEXNODE_LOCK" "$FLEXNODE_BOOTSTRAP_LOCK"
  )
  FLEXNODE_ENTRIES=$FLEXNODE_NEWLINE$FLEXNODE_ENTRIES$FLEXNODE_CONFIGS
}

# flexnode_set_dirs: sets FLEXNODE_DIRS, FLEXNODE_HOST_DIRS and FLEXNODE_TEMP_DIRS.
flexnode_set_dirs() {
  FLEXNODE_DIRS=$FLEXNODE_NEWLINE
  FLEXNODE_HOST_DIRS=$FLEXNODE_NEWLINE
  FLEXNODE_TEMP_DIRS=$FLEXNODE_NEWLINE$FLEXNODE_NEWLINE # the empty line is `/`
  set -f
  IFS=$FLEXNODE_NEWLINE
  for flexnode_di_root in $FLEXNODE_ROOTS; do
    [ "$flexnode_di_root" = "$FLEXNODE_LEGACY" ] || flexnode_add_dirs FLEXNODE_DIRS "$flexnode_di_root/bin" \
      "$flexnode_di_root/lib" "$flexnode_di_root/libexec" "$flexnode_di_root"
    flexnode_add_dirs FLEXNODE_DIRS "$flexnode_di_root/lib/$FLEXNODE_LIB_NAME"
    [ "$flexnode_di_root" = "$FLEXNODE_LEGACY" ] || flexnode_add_empty_dirs "$flexnode_di_root"
    flexnode_add_dirs FLEXNODE_TEMP_DIRS "$flexnode_di_root/lib/$FLEXNODE_LIB_NAME"
  done
  for flexnode_di_root in "$FLEXNODE_HOST_ROOT" "$FLEXNODE_LEGACY_ROOT" $FLEXNODE_ROOTS; do
    flexnode_add_dirs FLEXNODE_HOST_DIRS "${flexnode_di_root%/*}" "$flexnode_di_root" "$flexnode_di_root/bin" \
      "$flexnode_di_root/lib" "$flexnode_di_root/libexec"
  done
  for flexnode_di_root in $FLEXNODE_TREES $FLEXNODE_CONFIGS "$FLEXNODE_LIBRARY_CONFIG_DIR"; do
    flexnode_add_dirs FLEXNODE_HOST_DIRS "${flexnode_di_root%/*}"
  done
  flexnode_add_dirs FLEXNODE_HOST_DIRS "${FLEXNODE_UNIT_DIR%/*}" "$FLEXNODE_UNIT_DIR" /run/systemd/system \
    "${FLEXNODE_LOCK%/*}"
  flexnode_add_dirs FLEXNODE_DIRS "$FLEXNODE_LIBRARY_CONFIG_DIR/agent" "$FLEXNODE_LIBRARY_CONFIG_DIR/kube" \
    "$FLEXNODE_LIBRARY_CONFIG_DIR"
  # shellcheck disable=SC2086 # lists of one path a line
  flexnode_add_dirs FLEXNODE_TEMP_DIRS $FLEXNODE_HOST_DIRS "$FLEXNODE_UNIT_DIR/$FLEXNODE_AGENT_WANTED_BY.wants" \
    "$FLEXNODE_SYSCTL_DIR" "$FLEXNODE_LIBRARY_CONFIG_DIR" "$FLEXNODE_LIBRARY_CONFIG_DIR/agent" \
    "$FLEXNODE_LIBRARY_CONFIG_DIR/kube"
  # shellcheck disable=SC2086 # the same
  flexnode_add_dirs FLEXNODE_DIRS $FLEXNODE_WAS_ABSENT
  IFS=' 	
'
  set +f
}

# flexnode_add_empty_dirs ROOT: a root goes only with direct subdirectories that are empty, whoever made them.
flexnode_add_empty_dirs() {
  set +f
  for flexnode_ae_dir in "$1"/* "$1"/.[!.]* "$1"/..?*; do
    if [ -L "$flexnode_ae_dir" ] || [ ! -d "$flexnode_ae_dir" ] || flexnode_has_entries "$flexnode_ae_dir"; then continue; fi
    flexnode_is_listed "$flexnode_ae_dir" "$FLEXNODE_WAS_DIR" || flexnode_add_dirs FLEXNODE_DIRS "$flexnode_ae_dir"
  done
  set -f
}

# flexnode_add_dirs LIST DIR…: appends each DIR to the variable LIST, once.
flexnode_add_dirs() {
  flexnode_ad_list=$1
  shift
  # shellcheck disable=SC2034 # read by eval
  for flexnode_ad_dir in "$@"; do
    eval "flexnode_is_listed \"\$flexnode_ad_dir\" \"\$$flexnode_ad_list\"" ||
      eval "$flexnode_ad_list=\$$flexnode_ad_list\$flexnode_ad_dir\$FLEXNODE_NEWLINE"
  done
}

# flexnode_find_agent: sets FLEXNODE_AGENT to the first agent that can be run, the host root's before the legacy one,
# or to nothing. A link that is not of our layout is not followed.
flexnode_find_agent() {
  FLEXNODE_AGENT=
  set -f
  IFS=$FLEXNODE_NEWLINE
  flexnode_fa_files=
  for flexnode_fa_root in $FLEXNODE_ROOTS; do
    flexnode_layout "$flexnode_fa_root"
    flexnode_fa_files=$flexnode_fa_files$FLEXNODE_RESULT
  done
  # shellcheck disable=SC2086 # one path a line
  set -- $flexnode_fa_files
  IFS=' 	
'
  set +f
  for flexnode_fa_file in "$@"; do
    ! flexnode_is_on_network "$flexnode_fa_file" || continue
    if [ ! -f "$flexnode_fa_file" ] || [ ! -x "$flexnode_fa_file" ]; then continue; fi
    flexnode_is_layout_entry "$flexnode_fa_file" || continue
    FLEXNODE_AGENT=$flexnode_fa_file
    return 0
  done
  return 1
}

# flexnode_is_layout_entry FILE: is it no link, or a link into the layout?
flexnode_is_layout_entry() {
  [ -L "$1" ] || return 0
  case $1 in */lib/"$FLEXNODE_LIB_NAME"/*) return 0 ;; esac
  case $(readlink -- "$1" </dev/null 8>&- 9>&-) in
    */lib/"$FLEXNODE_LIB_NAME/$FLEXNODE_BINARY_NAME"-*) return 0 ;;
    lib/"$FLEXNODE_LIB_NAME/$FLEXNODE_BINARY_NAME"-*) return 0 ;;
    *) return 1 ;;
  esac
}
