# shellcheck shell=sh
# journal.sh: the record, written ahead, of every change to the host; what uninstall works from. Format and rules:
# docs/architecture.md, Journal. A journal that is not valid to the last line is never obeyed.

# flexnode_known_paths ROOT [CONFIG…]: sets FLEXNODE_RESULT to the list of paths that a journal may name, one a line
# (with a newline before the first), parents first: all that install, bootstrap and the agent's start may make under
# ROOT and both roots and elsewhere, with every directory above.
flexnode_known_paths() {
  FLEXNODE_RESULT=$FLEXNODE_NEWLINE
  flexnode_kn_root=$1
  shift
  for flexnode_kn_root in "$FLEXNODE_HOST_ROOT" "$FLEXNODE_LEGACY_ROOT" "$flexnode_kn_root"; do
    flexnode_add_path "$flexnode_kn_root/bin/$FLEXNODE_BINARY_NAME"
    flexnode_kn_lib=$flexnode_kn_root/lib/$FLEXNODE_LIB_NAME
    for flexnode_kn_name in blue green current last-good; do
      flexnode_add_path "$flexnode_kn_lib/$FLEXNODE_BINARY_NAME-$flexnode_kn_name"
    done
    flexnode_add_path "$flexnode_kn_lib/$FLEXNODE_RECOVERY_SCRIPT"
    flexnode_add_path "$flexnode_kn_root/libexec"
  done
  for flexnode_kn_name in "$FLEXNODE_CONFIG_PATH" "$FLEXNODE_STATE_DIR" "$FLEXNODE_LOG_DIR" \
    "$FLEXNODE_LIBRARY_CONFIG_DIR" "$FLEXNODE_UNIT_DIR/$FLEXNODE_AGENT_UNIT" \
    "$FLEXNODE_UNIT_DIR/$FLEXNODE_RECOVERY_UNIT" "$FLEXNODE_UNIT_DIR/$FLEXNODE_FIRST_BOOT_UNIT" \
    "$FLEXNODE_UNIT_DIR/$FLEXNODE_AGENT_WANTED_BY.wants/$FLEXNODE_AGENT_UNIT" \
    "$FLEXNODE_UNIT_DIR/$FLEXNODE_AGENT_WANTED_BY.wants/$FLEXNODE_FIRST_BOOT_UNIT" "$@"; do
    [ -z "$flexnode_kn_name" ] || flexnode_add_path "$flexnode_kn_name"
  done
}

# flexnode_add_path PATH: appends the directories above PATH, then PATH, to FLEXNODE_RESULT, each once.
flexnode_add_path() {
  flexnode_ad_rest=${1#/}/
  flexnode_ad_path=
  while [ -n "$flexnode_ad_rest" ]; do
    flexnode_ad_path=$flexnode_ad_path/${flexnode_ad_rest%%/*}
    flexnode_ad_rest=${flexnode_ad_rest#*/}
    case $FLEXNODE_RESULT in
      *"$FLEXNODE_NEWLINE$flexnode_ad_path$FLEXNODE_NEWLINE"*) ;;
      *) FLEXNODE_RESULT=$FLEXNODE_RESULT$flexnode_ad_path$FLEXNODE_NEWLINE ;;
    esac
  done
}

# flexnode_before_records PATHS [LINK]: prints a record `kind|mode|path|detail` for each of PATHS (one a line): what is
# there now; in the journal they stand behind the word `before|`. What is seen only through LINK is not there.
# Returns 1 when something there cannot be read.
flexnode_before_records() (
  set -f
  IFS=$FLEXNODE_NEWLINE
  flexnode_be_present=
  for flexnode_be_path in $1; do
    if flexnode_exists "$flexnode_be_path" && [ "${flexnode_be_path#"${2:-//}"/}" = "$flexnode_be_path" ]; then
      flexnode_be_present=$flexnode_be_present$flexnode_be_path$FLEXNODE_NEWLINE
    else
      flexnode_emit absent - "$flexnode_be_path" -
    fi
  done
  # shellcheck disable=SC2086 # one path a line
  set -- $flexnode_be_present
  [ $# -gt 0 ] || return 0
  flexnode_be_lines=$(flexnode_x stat -c '%a %u:%g' -- "$@") || return # in the order of the operands
  for flexnode_be_path in "$@"; do
    flexnode_be_line=${flexnode_be_lines%%"$FLEXNODE_NEWLINE"*}
    flexnode_be_lines=${flexnode_be_lines#*"$FLEXNODE_NEWLINE"}
    flexnode_be_mode=${flexnode_be_line%% *}
    while [ ${#flexnode_be_mode} -lt 4 ]; do flexnode_be_mode=0$flexnode_be_mode; done
    flexnode_before_record "$flexnode_be_path" "$flexnode_be_mode" "${flexnode_be_line#* }" || return
  done
)

# flexnode_before_record PATH MODE OWNER: prints the record of something that is there.
flexnode_before_record() {
  if [ -L "$1" ]; then
    flexnode_be_detail=$(readlink -- "$1" </dev/null 8>&- 9>&-) && flexnode_emit link - "$1" "$flexnode_be_detail"
  elif [ -d "$1" ]; then
    flexnode_emit dir "$2" "$1" "$3"
  elif [ -f "$1" ]; then
    flexnode_be_detail=$(flexnode_sha256 "$1") && flexnode_emit file "$2" "$1" "$flexnode_be_detail"
  else
    flexnode_emit other "$2" "$1" "$3"
  fi
}

# flexnode_journal_read: reads and validates the journal. Returns 0 when there is a valid one and sets
#   FLEXNODE_J_ROOT, FLEXNODE_J_ATTEMPT, FLEXNODE_J_CONFIG (the last), FLEXNODE_J_CONFIGS (all, one a line),
#   FLEXNODE_J_LOGDIR, FLEXNODE_J_DONE (1 or empty), FLEXNODE_J_BEFORE and FLEXNODE_J_STEPS (records without the
#   word `before|` or `step|`, for flexnode_each);
# 1 when there is none; 2 when it is not valid, the reason in FLEXNODE_J_REASON, all others empty.
flexnode_journal_read() {
  flexnode_journal_forget
  flexnode_exists "$FLEXNODE_JOURNAL" || return 1
  if [ -L "$FLEXNODE_JOURNAL" ] || [ ! -f "$FLEXNODE_JOURNAL" ]; then
    FLEXNODE_J_REASON='it is not a regular file'
  else
    flexnode_journal_load <"$FLEXNODE_JOURNAL" && flexnode_journal_check && FLEXNODE_J_REASON='' && return
  fi
  flexnode_jo_reason=$FLEXNODE_J_REASON
  flexnode_journal_forget
  FLEXNODE_J_REASON=$flexnode_jo_reason
  return 2
}

# flexnode_journal_forget: empties what flexnode_journal_read sets.
flexnode_journal_forget() {
  FLEXNODE_J_ROOT='' FLEXNODE_J_ATTEMPT='' FLEXNODE_J_CONFIG='' FLEXNODE_J_CONFIGS='' FLEXNODE_J_LOGDIR=''
  FLEXNODE_J_DONE='' FLEXNODE_J_BEFORE='' FLEXNODE_J_STEPS='' FLEXNODE_J_REASON='' FLEXNODE_J_TORN='' FLEXNODE_J_KEEP_OPEN=''
}

# flexnode_journal_load <JOURNAL: takes the lines apart; the syntax is checked here, the paths are not.
flexnode_journal_load() {
  FLEXNODE_J_REASON='its first line is not that of a journal of this version'
  IFS= read -r flexnode_jo_line || return
  case $flexnode_jo_line in "$FLEXNODE_JOURNAL_HEADER /"*) ;; *) return 1 ;; esac
  FLEXNODE_J_ROOT=${flexnode_jo_line#"$FLEXNODE_JOURNAL_HEADER "}
  while IFS= read -r flexnode_jo_line; do
    FLEXNODE_J_REASON="it has a line that is not understood: $flexnode_jo_line"
    [ -z "$FLEXNODE_J_DONE" ] || return
    case $flexnode_jo_line in
      attempt\|install | attempt\|bootstrap) FLEXNODE_J_ATTEMPT=${flexnode_jo_line#*\|} ;;
      config\|/*)
        flexnode_decode "${flexnode_jo_line#*\|}"
        FLEXNODE_J_CONFIG=$FLEXNODE_RESULT
        FLEXNODE_J_CONFIGS=$FLEXNODE_J_CONFIGS$FLEXNODE_RESULT$FLEXNODE_NEWLINE
        ;;
      logdir\|/*)
        flexnode_decode "${flexnode_jo_line#*\|}"
        FLEXNODE_J_LOGDIR=$FLEXNODE_RESULT
        ;;
      before\|*\|*\|/*\|*) FLEXNODE_J_BEFORE=$FLEXNODE_J_BEFORE${flexnode_jo_line#*\|}$FLEXNODE_NEWLINE ;;
      step\|*\|*\|/*\|*) FLEXNODE_J_STEPS=$FLEXNODE_J_STEPS${flexnode_jo_line#*\|}$FLEXNODE_NEWLINE ;;
      done) FLEXNODE_J_DONE=1 ;;
      *) return 1 ;;
    esac
  done
  # Only the last word is appended to a journal that is in place, so only it can be torn.
  FLEXNODE_J_REASON="its last line is torn: $flexnode_jo_line"
  FLEXNODE_J_TORN=$flexnode_jo_line
  case $flexnode_jo_line in '' | d | do | don | done) ;; *) return 1 ;; esac
}

# flexnode_journal_check: is every path of the journal that was loaded one that we may know?
flexnode_journal_check() {
  FLEXNODE_J_REASON="it names a root that is none of ours: $FLEXNODE_J_ROOT"
  flexnode_is_our_root "$FLEXNODE_J_ROOT" || return
  FLEXNODE_J_REASON='it does not say whose attempt it is'
  [ -n "$FLEXNODE_J_ATTEMPT" ] || return
  flexnode_ch_paths=$FLEXNODE_J_CONFIGS$FLEXNODE_J_LOGDIR
  set -f
  IFS=$FLEXNODE_NEWLINE
  # shellcheck disable=SC2086 # one path a line
  set -- $flexnode_ch_paths
  IFS=' 	
'
  set +f
  for flexnode_ch_path in "$@"; do
    FLEXNODE_J_REASON="it names a path that is not clean: $flexnode_ch_path"
    flexnode_is_clean_path "$flexnode_ch_path" || return
  done
  flexnode_known_paths "$FLEXNODE_J_ROOT" "$@"
  FLEXNODE_J_KNOWN=$FLEXNODE_RESULT
  flexnode_each flexnode_journal_check_record "$FLEXNODE_J_BEFORE$FLEXNODE_J_STEPS"
}

# flexnode_journal_check_record KIND MODE PATH ARGUMENT: for flexnode_each.
flexnode_journal_check_record() {
  FLEXNODE_J_REASON="it names a path that is not ours: $3"
  case $3 in *"$FLEXNODE_NEWLINE"*) return 1 ;; esac
  case $FLEXNODE_J_KNOWN in *"$FLEXNODE_NEWLINE$3$FLEXNODE_NEWLINE"*) ;; *) return 1 ;; esac
  [ "$1" = dir ] || return 0
  FLEXNODE_J_REASON="it gives $3 a mode or owner that is none"
  case $2,$4 in
    [0-7][0-7][0-7][0-7],*[!0-9:]* | *,*:*:* | *,:* | *,*:) return 1 ;;
    [0-7][0-7][0-7][0-7],*:*) ;;
    *) return 1 ;;
  esac
}

# flexnode_is_our_root ROOT: is ROOT the host root or the legacy root, as named or resolved?
flexnode_is_our_root() {
  case $1 in "$FLEXNODE_HOST_ROOT" | "$FLEXNODE_LEGACY_ROOT") return 0 ;; esac
  [ "$1" = "$(flexnode_resolve "$FLEXNODE_HOST_ROOT")" ] || [ "$1" = "$(flexnode_resolve "$FLEXNODE_LEGACY_ROOT")" ] ||
    [ "$1" = "$(flexnode_resolve "${FLEXNODE_HOST_ROOT%/*}")/${FLEXNODE_HOST_ROOT##*/}" ]
}

# flexnode_journal_set_aside: moves a journal that is not valid out of the way and says so (reason: FLEXNODE_J_REASON).
flexnode_journal_set_aside() {
  flexnode_warn "$FLEXNODE_JOURNAL is not used: $FLEXNODE_J_REASON; moved to $FLEXNODE_JOURNAL.invalid"
  flexnode_try 'move the journal aside' mv -f -- "$FLEXNODE_JOURNAL" "$FLEXNODE_JOURNAL.invalid"
}

# flexnode_journal_write ATTEMPT ROOT CONFIG LOGDIR BEFORE STEPS: puts a new journal in place, whole and synced.
# ATTEMPT is install or bootstrap; an empty CONFIG or LOGDIR keeps the earlier one. BEFORE as printed by
# flexnode_before_records, STEPS as emitted. After flexnode_journal_read: what an earlier valid journal says about
# the time before us is kept. An install does not close an unfinished bootstrap. Prints E_STATE, returns its code.
flexnode_journal_write() {
  flexnode_jw_attempt=$1
  [ "$FLEXNODE_J_ATTEMPT,$FLEXNODE_J_DONE" != bootstrap, ] || flexnode_jw_attempt=bootstrap
  FLEXNODE_J_KEEP_OPEN=
  [ "$flexnode_jw_attempt" = "$1" ] || FLEXNODE_J_KEEP_OPEN=1
  flexnode_jw_new=${FLEXNODE_JOURNAL%/*}/${FLEXNODE_TEMP_PREFIX}new.journal
  if { flexnode_journal_text "$flexnode_jw_attempt" "$2" "$3" "$4" "$5" "$6" >"$flexnode_jw_new"; } 2>/dev/null &&
    flexnode_sync "$flexnode_jw_new" && flexnode_x mv -f -- "$flexnode_jw_new" "$FLEXNODE_JOURNAL" &&
    flexnode_sync "${FLEXNODE_JOURNAL%/*}"; then
    FLEXNODE_J_TORN=
    return 0
  fi
  flexnode_x rm -f -- "$flexnode_jw_new"
  flexnode_mount_of "${FLEXNODE_JOURNAL%/*}"
  flexnode_error E_STATE journal "cannot write $FLEXNODE_JOURNAL: $FLEXNODE_RESULT"
}

# flexnode_journal_text ATTEMPT ROOT CONFIG LOGDIR BEFORE STEPS: prints the journal.
flexnode_journal_text() {
  printf '%s %s\nattempt|%s\n' "$FLEXNODE_JOURNAL_HEADER" "$2" "$1" || return
  flexnode_print_lines config "$FLEXNODE_J_CONFIGS" "${3:-${FLEXNODE_J_CONFIG:-$FLEXNODE_CONFIG_PATH}}" || return
  flexnode_encode "${4:-${FLEXNODE_J_LOGDIR:-$FLEXNODE_LOG_DIR}}"
  printf 'logdir|%s\n' "$FLEXNODE_RESULT" || return
  flexnode_print_lines before "$FLEXNODE_J_BEFORE" '' || return
  flexnode_print_lines before "$5" "$FLEXNODE_J_BEFORE" || return
  flexnode_print_lines step "$6" ''
}

# flexnode_print_lines WORD LINES EXTRA: prints each of LINES as `WORD|LINE`. EXTRA: for `config` the one that counts,
# printed last and once, all of them encoded; for `before` the records whose paths are known already.
flexnode_print_lines() {
  flexnode_pl_rest=$2
  while [ -n "$flexnode_pl_rest" ]; do
    flexnode_pl_line=${flexnode_pl_rest%%"$FLEXNODE_NEWLINE"*}
    flexnode_pl_rest=${flexnode_pl_rest#"$flexnode_pl_line"}
    flexnode_pl_rest=${flexnode_pl_rest#"$FLEXNODE_NEWLINE"}
    FLEXNODE_RESULT=$flexnode_pl_line
    case $1 in
      config)
        [ "$flexnode_pl_line" != "$3" ] || continue
        flexnode_encode "$flexnode_pl_line"
        ;;
      before)
        flexnode_pl_path=${flexnode_pl_line#*\|*\|}
        case $3 in *"|${flexnode_pl_path%%\|*}|"*) continue ;; esac
        ;;
    esac
    printf '%s|%s\n' "$1" "$FLEXNODE_RESULT" || return
  done
  [ "$1" = config ] || return 0
  flexnode_encode "$3"
  printf 'config|%s\n' "$FLEXNODE_RESULT"
}

# flexnode_journal_close: adds `done`, unless an unfinished bootstrap goes on. Prints E_STATE and returns its code.
flexnode_journal_close() {
  [ -z "$FLEXNODE_J_KEEP_OPEN" ] || return 0
  flexnode_jc_word='done' # what a torn line has of it is there already
  if { printf '%s\n' "${flexnode_jc_word#"$FLEXNODE_J_TORN"}" >>"$FLEXNODE_JOURNAL"; } 2>/dev/null; then
    flexnode_sync "$FLEXNODE_JOURNAL" && return
  fi
  flexnode_error E_STATE journal "cannot add to $FLEXNODE_JOURNAL"
}
