# shellcheck shell=sh
# say.sh: words for people. All of it goes to stderr, one line each; data goes to stdout, from elsewhere.
# Reads FLEXNODE_PROGRAM (the word in front) and FLEXNODE_OPT_QUIET, FLEXNODE_OPT_VERBOSE, FLEXNODE_OPT_LOG.

# flexnode_one_line TEXT: sets FLEXNODE_RESULT to TEXT with each newline turned into a space.
flexnode_one_line() {
  FLEXNODE_RESULT=$1
  while :; do
    case $FLEXNODE_RESULT in
      *"$FLEXNODE_NEWLINE") FLEXNODE_RESULT=${FLEXNODE_RESULT%"$FLEXNODE_NEWLINE"} ;;
      *"$FLEXNODE_NEWLINE"*)
        FLEXNODE_RESULT="${FLEXNODE_RESULT%%"$FLEXNODE_NEWLINE"*} ${FLEXNODE_RESULT#*"$FLEXNODE_NEWLINE"}"
        ;;
      *) return 0 ;;
    esac
  done
}

# flexnode_wipe_progress: clears the line that progress.sh draws, while it does.
flexnode_wipe_progress() { [ -z "${FLEXNODE_PROGRESS-}" ] || printf '\r%78s\r' '' >&2; }

# flexnode_line COLOUR LABEL MESSAGE: prints `PROGRAM: LABEL MESSAGE` to stderr and to the transcript; returns 0.
# COLOUR is an SGR number for the label on a terminal, `-` for none, `log` for the transcript alone.
flexnode_line() {
  flexnode_one_line "$3"
  flexnode_line_text="${FLEXNODE_PROGRAM:-flexnode}: $2${2:+ }$FLEXNODE_RESULT"
  [ -z "${FLEXNODE_OPT_LOG-}" ] || printf '%s\n' "$flexnode_line_text" 2>/dev/null >>"$FLEXNODE_OPT_LOG"
  [ "$1" = log ] || flexnode_wipe_progress
  case $1 in
    log) ;;
    [0-9]*)
      if [ -z "${NO_COLOR-}" ] && [ -t 2 ]; then
        flexnode_line_text="${FLEXNODE_PROGRAM:-flexnode}: $(printf '\033[%sm%s\033[0m' "$1" "$2") $FLEXNODE_RESULT"
      fi
      printf '%s\n' "$flexnode_line_text" >&2
      ;;
    *) printf '%s\n' "$flexnode_line_text" >&2 ;;
  esac
  return 0
}

# flexnode_say MESSAGE: something that is worth a line; silent with --quiet. Returns 0.
flexnode_say() {
  if [ -n "${FLEXNODE_OPT_QUIET-}" ]; then flexnode_line log '' "$1"; else flexnode_line - '' "$1"; fi
}

# flexnode_debug MESSAGE: a step on the way; shown with --verbose. Returns 0.
flexnode_debug() {
  if [ -n "${FLEXNODE_OPT_VERBOSE-}" ]; then flexnode_line - '' "$1"; else flexnode_line log '' "$1"; fi
}

# flexnode_warn MESSAGE: prints `PROGRAM: warning: MESSAGE`. Returns 0.
flexnode_warn() { flexnode_line 33 warning: "$1"; }

# flexnode_error ID STEP CAUSE [REMEDY]: prints `PROGRAM: error: STEP: CAUSE; REMEDY [ID]` (the remedy of the error
# table when none is given) and returns the exit code of ID, so that calls read `… || return`.
flexnode_error() {
  flexnode_line 31 error: "$2: $3; ${4:-$(flexnode_remedy "$1")} [$1]"
  return "$(flexnode_exit_code "$1")"
}

# flexnode_open_log: can the file of --log be written? Prints E_USAGE and returns its code.
flexnode_open_log() {
  [ -z "$FLEXNODE_OPT_LOG" ] || { true >>"$FLEXNODE_OPT_LOG"; } 2>/dev/null ||
    flexnode_error E_USAGE options "cannot write the log $FLEXNODE_OPT_LOG" 'name another file'
}
