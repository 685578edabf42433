# shellcheck shell=sh
# steps.sh: a plan is a list of records, `kind|mode|path|argument`, one a line; one loop prints it or acts on it, so
# that --plan cannot say anything else than what is done. `-` stands for nothing.

# flexnode_encode TEXT: sets FLEXNODE_RESULT to TEXT with `%`, `|` and newline as %25, %7C, %0A.
flexnode_encode() {
  FLEXNODE_RESULT=$1
  case $1 in *[%\|"$FLEXNODE_NEWLINE"]*) ;; *) return 0 ;; esac
  FLEXNODE_RESULT=
  flexnode_en_rest=$1
  while [ -n "$flexnode_en_rest" ]; do
    flexnode_en_head=${flexnode_en_rest%%[%\|"$FLEXNODE_NEWLINE"]*}
    flexnode_en_rest=${flexnode_en_rest#"$flexnode_en_head"}
    FLEXNODE_RESULT=$FLEXNODE_RESULT$flexnode_en_head
    case $flexnode_en_rest in
      %*) FLEXNODE_RESULT=$FLEXNODE_RESULT%25 ;;
      \|*) FLEXNODE_RESULT=$FLEXNODE_RESULT%7C ;;
      ?*) FLEXNODE_RESULT=$FLEXNODE_RESULT%0A ;;
    esac
    flexnode_en_rest=${flexnode_en_rest#?}
  done
}

# flexnode_decode TEXT: sets FLEXNODE_RESULT to what was encoded; any other `%` stays as it is.
flexnode_decode() {
  FLEXNODE_RESULT=$1
  case $1 in *%*) ;; *) return 0 ;; esac
  FLEXNODE_RESULT=
  flexnode_de_rest=$1
  while [ -n "$flexnode_de_rest" ]; do
    flexnode_de_head=${flexnode_de_rest%%\%*}
    flexnode_de_rest=${flexnode_de_rest#"$flexnode_de_head"}
    FLEXNODE_RESULT=$FLEXNODE_RESULT$flexnode_de_head
    case $flexnode_de_rest in
      %25*) FLEXNODE_RESULT=$FLEXNODE_RESULT% flexnode_de_rest=${flexnode_de_rest#???} ;;
      %7C*) FLEXNODE_RESULT=$FLEXNODE_RESULT\| flexnode_de_rest=${flexnode_de_rest#???} ;;
      %0A*) FLEXNODE_RESULT=$FLEXNODE_RESULT$FLEXNODE_NEWLINE flexnode_de_rest=${flexnode_de_rest#???} ;;
      %*) FLEXNODE_RESULT=$FLEXNODE_RESULT% flexnode_de_rest=${flexnode_de_rest#?} ;;
    esac
  done
}

# flexnode_emit KIND MODE PATH ARGUMENT: prints one record.
flexnode_emit() {
  flexnode_encode "$3"
  set -- "$1" "$2" "$FLEXNODE_RESULT" "$4"
  flexnode_encode "$4"
  printf '%s|%s|%s|%s\n' "$1" "$2" "$3" "$FLEXNODE_RESULT"
}

# flexnode_each FUNCTION RECORDS: calls `FUNCTION KIND MODE PATH ARGUMENT` (decoded) for each record of the text
# RECORDS; the first status that is not 0 ends the loop and is returned. No here-document, which needs a writable
# /tmp in some shells, and no stdin. Not to be nested.
flexnode_each() {
  flexnode_ea_function=$1
  flexnode_ea_rest=$2
  while [ -n "$flexnode_ea_rest" ]; do
    flexnode_ea_line=${flexnode_ea_rest%%"$FLEXNODE_NEWLINE"*}
    case $flexnode_ea_rest in
      *"$FLEXNODE_NEWLINE"*) flexnode_ea_rest=${flexnode_ea_rest#*"$FLEXNODE_NEWLINE"} ;;
      *) flexnode_ea_rest= ;;
    esac
    [ -n "$flexnode_ea_line" ] || continue
    flexnode_split "$flexnode_ea_line"
    "$flexnode_ea_function" "$FLEXNODE_KIND" "$FLEXNODE_MODE" "$FLEXNODE_PATH" "$FLEXNODE_ARGUMENT" || return
  done
}

# flexnode_split RECORD: sets FLEXNODE_KIND, FLEXNODE_MODE, FLEXNODE_PATH, FLEXNODE_ARGUMENT, decoded.
flexnode_split() {
  flexnode_sp_rest=$1
  FLEXNODE_KIND=${flexnode_sp_rest%%\|*} flexnode_sp_rest=${flexnode_sp_rest#*\|}
  FLEXNODE_MODE=${flexnode_sp_rest%%\|*} flexnode_sp_rest=${flexnode_sp_rest#*\|}
  flexnode_decode "${flexnode_sp_rest%%\|*}"
  FLEXNODE_PATH=$FLEXNODE_RESULT
  flexnode_decode "${flexnode_sp_rest#*\|}"
  FLEXNODE_ARGUMENT=$FLEXNODE_RESULT
}

# flexnode_describe KIND MODE PATH ARGUMENT: prints what the step does. A script with kinds of its own defines
# flexnode_describe_KIND MODE PATH ARGUMENT for them.
flexnode_describe() {
  case $1 in
    mkdir) printf 'make directory %s (%s)\n' "$3" "$2" ;;
    link) printf 'link %s -> %s\n' "$3" "$4" ;;
    unlink) printf 'remove %s\n' "$3" ;;
    move) printf 'put %s in place (%s)\n' "$3" "$2" ;;
    *) "flexnode_describe_$1" "$2" "$3" "$4" ;;
  esac
}

# flexnode_print KIND MODE PATH ARGUMENT: for flexnode_each: prints `would …` to stdout.
flexnode_print() { printf 'would %s\n' "$(flexnode_describe "$@")"; }

# flexnode_act KIND MODE PATH ARGUMENT: for flexnode_each: does it, by `flexnode_act_KIND MODE PATH ARGUMENT`.
flexnode_act() {
  [ -z "${FLEXNODE_OPT_VERBOSE-}${FLEXNODE_OPT_LOG-}" ] || flexnode_debug "$(flexnode_describe "$@")"
  "flexnode_act_$1" "$2" "$3" "$4"
}

# flexnode_settle: syncs every directory that steps changed (FLEXNODE_CHANGED, one a line) and forgets them.
flexnode_settle() {
  [ -n "${FLEXNODE_CHANGED-}" ] || return 0
  set -f
  IFS=$FLEXNODE_NEWLINE
  # shellcheck disable=SC2086 # one directory a line
  set -- $FLEXNODE_CHANGED
  IFS=' 	
'
  set +f
  FLEXNODE_CHANGED=
  flexnode_sync "$@"
}

# flexnode_changed PATH: notes PATH's directory for flexnode_settle.
flexnode_changed() {
  flexnode_ch_dir=${1%/*}/
  FLEXNODE_CHANGED=${FLEXNODE_CHANGED-}$flexnode_ch_dir$FLEXNODE_NEWLINE
}

# The kinds that all scripts share. Each prints E_TARGET and returns its code when it fails.

# mkdir: a directory that is there keeps its mode. -m, because the umask is the caller's no more than ours.
flexnode_act_mkdir() {
  [ -d "$2" ] || flexnode_try "make directory $2" mkdir -m "$1" -- "$2" || return
  flexnode_changed "$2"
}

# link: symlink(2) is atomic by itself and replaces nothing. Looks first: in a directory ln would make the link.
flexnode_act_link() {
  ! flexnode_exists "$2" || flexnode_error E_TARGET "link $2" 'something is there' 'run this again' || return
  flexnode_try "link $2" ln -s -n -- "$3" "$2" || return
  flexnode_changed "$2"
}

# unlink: looks first: unlinking an absent name on a read-only file system fails with EROFS, not ENOENT. What was done
# before is on the disk before anything goes: a link, else, might come back without what it leads to.
flexnode_act_unlink() {
  flexnode_exists "$2" || return 0
  flexnode_settle || flexnode_error E_TARGET "remove $2" 'sync failed' || return
  flexnode_try "remove $2" rm -f -- "$2" || return
  flexnode_changed "$2"
}

# move: renames the staged ARGUMENT, which is complete and synced, over PATH. Neither may be a directory: mv would
# move into it.
flexnode_act_move() {
  [ ! -d "$2" ] || flexnode_error E_TARGET "put $2 in place" "it is a directory" "move it away" || return
  flexnode_try "put $2 in place" mv -f -- "$3" "$2" || return
  flexnode_changed "$2"
}

# flexnode_try STEP COMMAND…: runs COMMAND; when it fails prints E_TARGET with the last words of its complaint.
flexnode_try() {
  flexnode_tr_step=$1
  shift
  flexnode_words "$@" || flexnode_error E_TARGET "$flexnode_tr_step" "$FLEXNODE_RESULT"
}
