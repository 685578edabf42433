# shellcheck shell=sh
# candidate.sh: ask an agent that was obtained (FLEXNODE_CANDIDATE) whether it runs on this host and where it wants to
# be. Its answers are not trusted: a time limit, a format, roots that we know.

# flexnode_ask BINARY ARGUMENT…: runs an agent with the time limit; its output goes to the staging files `answer` and
# `words`. Returns its status, 137 when it was killed for not answering.
flexnode_ask() { flexnode_wait flexnode_run_agent "$@"; }
flexnode_run_agent() {
  {
    exec timeout -s KILL "$FLEXNODE_CANDIDATE_TIMEOUT_S" "$@" \
      >"$FLEXNODE_STAGING_DIR/answer" 2>"$FLEXNODE_STAGING_DIR/words"
  } 2>/dev/null # the shell's own words when these cannot be opened
}

# flexnode_read_version: sets FLEXNODE_RESULT to the version in the answer to `version`; returns 1 when there is none.
flexnode_read_version() {
  FLEXNODE_RESULT=
  while IFS=' ' read -r flexnode_rv_word flexnode_rv_rest; do
    [ "$flexnode_rv_word" != Version: ] || FLEXNODE_RESULT=$flexnode_rv_rest
  done <"$FLEXNODE_STAGING_DIR/answer"
  [ -n "$FLEXNODE_RESULT" ]
}

# flexnode_staging_takes: does staging take another file? If it is full, what an agent answered says nothing about the
# agent. Prints E_STATE and returns its code.
flexnode_staging_takes() {
  { printf '%4096s\n' ' ' >"$FLEXNODE_STAGING_DIR/full"; } 2>/dev/null &&
    [ -e "$FLEXNODE_STAGING_DIR/words" ] && return
  flexnode_mount_of "$FLEXNODE_STAGING_DIR"
  flexnode_error E_STATE staging "no space is left: $FLEXNODE_RESULT" 'free some space'
}

# flexnode_agent_failed COMMAND STATUS: prints E_CANDIDATE, saying how the candidate failed, and returns its code.
flexnode_agent_failed() {
  flexnode_staging_takes || return
  flexnode_af_words=
  while IFS= read -r flexnode_af_line; do
    [ -z "$flexnode_af_line" ] || flexnode_af_words=$flexnode_af_line
  done <"$FLEXNODE_STAGING_DIR/words"
  case $2 in
    124 | 137) flexnode_af_cause="did not answer within $FLEXNODE_CANDIDATE_TIMEOUT_S s" ;;
    126) flexnode_af_cause='cannot be executed' ;;
    127) flexnode_af_cause='does not run, its interpreter or loader is missing' ;;
    0) flexnode_af_cause='gave no usable answer' ;;
    *) flexnode_af_cause="failed with status $2" ;;
  esac
  case $2,$flexnode_af_words in
    127,*python3*) set -- "$1" "$2" 'install python3 >= 3.9, or use a build for this host' ;;
    *) set -- "$1" "$2" '' ;;
  esac
  flexnode_error E_CANDIDATE candidate \
    "the agent $flexnode_af_cause when asked for '$1'${flexnode_af_words:+: $flexnode_af_words}" "$3"
}

# flexnode_check_candidate: runs FLEXNODE_CANDIDATE: it must tell its version, then where it wants to be. Sets
# FLEXNODE_CANDIDATE_VERSION, FLEXNODE_ROOT (resolved) and FLEXNODE_LEGACY (1: a release that predates the host root).
# Prints E_CANDIDATE or E_HOST_ROOT and returns that code.
flexnode_check_candidate() {
  flexnode_check_format || return
  flexnode_ask "$FLEXNODE_CANDIDATE" version || flexnode_agent_failed version "$?" || return
  flexnode_read_version || flexnode_agent_failed version 0 || return
  FLEXNODE_CANDIDATE_VERSION=$FLEXNODE_RESULT
  FLEXNODE_LEGACY=
  flexnode_ask "$FLEXNODE_CANDIDATE" host-root
  flexnode_cc_status=$?
  if [ "$flexnode_cc_status" = 1 ] && flexnode_is_unknown_command; then
    FLEXNODE_LEGACY=1
    FLEXNODE_ROOT=$(flexnode_resolve "$FLEXNODE_LEGACY_ROOT")
  elif [ "$flexnode_cc_status" != 0 ]; then
    flexnode_agent_failed host-root "$flexnode_cc_status"
  else
    flexnode_read_root
  fi
}

# flexnode_check_format: is the candidate a script, or a program for this architecture? Asked first, because `timeout`
# would hand what the kernel does not take to a shell, which would run a foreign program's bytes as commands.
flexnode_check_format() {
  # shellcheck disable=SC2046 # twenty bytes, of an ELF header 19 and 20 are the machine
  set -- $(od -A n -t x1 -N 20 "$FLEXNODE_CANDIDATE" </dev/null 8>&- 9>&-)
  case ${1-}${2-},${1-}${2-}${3-}${4-}${19-}${20-},$FLEXNODE_ARCH in
    2321,* | *,7f454c463e00,amd64 | *,7f454c46b700,arm64) ;;
    *) flexnode_error E_CANDIDATE candidate "the agent is neither a program for $FLEXNODE_ARCH nor a script" ;;
  esac
}

# flexnode_is_unknown_command: do the agent's words say so? Status 1 alone may as well be a crash.
flexnode_is_unknown_command() {
  while IFS= read -r flexnode_uc_line; do
    case $flexnode_uc_line in *'unknown command'*) return 0 ;; esac
  done <"$FLEXNODE_STAGING_DIR/words"
  return 1
}

# flexnode_is_unknown_option: do the agent's words say so, in the way of whatever reads its options?
flexnode_is_unknown_option() {
  while IFS= read -r flexnode_uc_line; do
    case $flexnode_uc_line in *unknown* | *unrecogni[sz]ed* | *'not defined'* | *[Uu]sage*) return 0 ;; esac
  done <"$FLEXNODE_STAGING_DIR/words"
  return 1
}

# flexnode_read_root: sets FLEXNODE_ROOT to the answer to `host-root`, which must be one line, a clean path without
# white space, and one of our roots.
flexnode_read_root() {
  { IFS= read -r FLEXNODE_ROOT && ! IFS= read -r flexnode_rr_more; } <"$FLEXNODE_STAGING_DIR/answer" &&
    [ -z "$flexnode_rr_more" ] && flexnode_is_clean_path "$FLEXNODE_ROOT" ||
    flexnode_error E_HOST_ROOT candidate 'the agent reported an invalid host root' || return
  case $FLEXNODE_ROOT in
    *[!!-~]*) flexnode_error E_HOST_ROOT candidate 'the agent reported an invalid host root' || return ;;
  esac
  flexnode_is_our_root "$FLEXNODE_ROOT" ||
    flexnode_error E_HOST_ROOT candidate "the agent reported the host root $FLEXNODE_ROOT, which is none of the known ones"
}
