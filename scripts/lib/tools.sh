# shellcheck shell=sh
# tools.sh: the environment, external commands, and where GNU and busybox tools differ.
# Every external command is called through flexnode_x or flexnode_wait, or has `</dev/null 8>&- 9>&-` itself: the
# script may be on stdin, and a child that inherits descriptor 9 keeps the lock.

# flexnode_begin PROGRAM CLEANUP: makes the shell ours: no option, variable or umask of the caller counts from here.
# CLEANUP is the function that a signal calls before the exit. Not for a shell that goes on as the caller's: call it
# in the run branch of the guard or in a subshell body.
# shellcheck disable=SC2034 # say.sh reads FLEXNODE_PROGRAM
flexnode_begin() {
  set +aefC
  set -u
  # By eval, since only bash knows it; the caller, or BASHOPTS in the environment, may have changed what `*` means.
  [ -z "${BASH_VERSION-}" ] || eval 'shopt -u failglob nullglob dotglob nocaseglob; unset GLOBIGNORE
    for flexnode_be_name in $(declare -F); do
      case $flexnode_be_name in flexnode_* | declare | -*) ;; *) unset -f -- "$flexnode_be_name" ;; esac
    done'
  flexnode_open_descriptors
  umask 077
  IFS=' 	
'
  FLEXNODE_NEWLINE='
'
  flexnode_contract
  FLEXNODE_PROGRAM=$1
  FLEXNODE_CLEANUP=$2
  FLEXNODE_CHILD=
  FLEXNODE_PROGRESS=
  PATH=${PATH:-/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin}
  LC_ALL=C
  export PATH LC_ALL
  unset CDPATH ENV BASH_ENV POSIXLY_CORRECT GREP_OPTIONS TAR_OPTIONS GZIP CURL_HOME WGETRC SYSTEM_WGETRC
  unset PYTHONHOME PYTHONPATH # an agent written in Python brings its own
  trap 'flexnode_stopped INT 130' INT
  trap 'flexnode_stopped TERM 143' TERM
  trap 'flexnode_stopped HUP 129' HUP
  trap 'flexnode_stopped PIPE 141' PIPE # whoever reads our messages is gone
}

# flexnode_open_descriptors: a standard descriptor that the caller closed gets /dev/null: else `>&2` fails, or the next
# file that is opened takes its place and our messages go into it.
flexnode_open_descriptors() {
  [ -e /proc/self/fd/0 ] || exec </dev/null
  [ -e /proc/self/fd/1 ] || exec >/dev/null
  [ -e /proc/self/fd/2 ] || exec 2>/dev/null
}

# flexnode_stopped SIGNAL STATUS: the trap: ends the child that is waited for, cleans up, exits with STATUS.
flexnode_stopped() {
  trap '' INT TERM HUP PIPE
  [ -z "$FLEXNODE_CHILD" ] || kill "$FLEXNODE_CHILD" 2>/dev/null
  [ -z "$FLEXNODE_CHILD" ] || wait "$FLEXNODE_CHILD" 2>/dev/null
  flexnode_warn "stopped by SIG$1"
  "$FLEXNODE_CLEANUP"
  exit "$2"
}

# flexnode_x COMMAND…: runs an external command that gets neither our stdin nor a lock (alone.sh's is
# on descriptor 8). Returns its status.
flexnode_x() { (exec "$@" </dev/null 8>&- 9>&-); } # exec: no function of a caller, and no second process

# flexnode_wait COMMAND…: the same for a command that may take long: a signal to us stops it at once instead of
# being noticed when it ends. COMMAND may be a function (it runs in a subshell, its `exec` is welcome).
flexnode_wait() {
  flexnode_start "$@"
  flexnode_join
}

# flexnode_start COMMAND…, flexnode_join: the two halves of flexnode_wait, for whoever has something to do in between.
flexnode_start() {
  "$@" </dev/null 8>&- 9>&- &
  FLEXNODE_CHILD=$!
}
flexnode_join() {
  wait "$FLEXNODE_CHILD" 2>/dev/null # a shell's own words about a signal
  set -- "$?"
  FLEXNODE_CHILD=
  return "$1"
}

# flexnode_hushed FUNCTION…: as flexnode_wait; what FUNCTION prints is for people, and shown only when it fails. It goes
# to a file that has no name by then, so that nothing is left of it whatever happens.
# shellcheck disable=SC2094 # the name goes, the file stays as long as it is open
flexnode_hushed() {
  flexnode_hu_file=${FLEXNODE_LOCK%/*}/${FLEXNODE_TEMP_PREFIX}words
  if ! { true >"$flexnode_hu_file"; } 2>/dev/null; then
    flexnode_wait "$@"
    return
  fi
  flexnode_hu_status=
  {
    flexnode_x rm -f -- "$flexnode_hu_file"
    flexnode_wait flexnode_run_hushed "$@"
    flexnode_hu_status=$?
    [ "$flexnode_hu_status" = 0 ] || cat <&6 >&2 7>&- 8>&- 9>&-
  } 6<"$flexnode_hu_file" 7>"$flexnode_hu_file"
  [ -n "$flexnode_hu_status" ] || { # it could not be opened once more
    flexnode_wait "$@"
    flexnode_hu_status=$?
    [ ! -e "$flexnode_hu_file" ] || flexnode_x rm -f -- "$flexnode_hu_file"
  }
  return "$flexnode_hu_status"
}

flexnode_run_hushed() {
  exec 2>&7 6<&- 7>&-
  "$@"
}

# flexnode_words COMMAND…: the same; sets FLEXNODE_RESULT to its output and complaints, from the last `: ` on.
flexnode_words() {
  FLEXNODE_RESULT=$(exec "$@" 2>&1 </dev/null 8>&- 9>&-)
  set -- "$?"
  FLEXNODE_RESULT=${FLEXNODE_RESULT##*: }
  return "$1"
}

# flexnode_has TOOL: is there such a command?
flexnode_has() { command -v "$1" >/dev/null 2>&1; }

# flexnode_need TOOL PACKAGE: returns 0 when TOOL is there, else prints E_TOOL naming PACKAGE and returns its code.
flexnode_need() {
  flexnode_has "$1" || flexnode_error E_TOOL tools "$1 is missing" "install $2"
}

# flexnode_need_root: returns 0 for root, else prints E_NOT_ROOT and returns its code.
flexnode_need_root() {
  [ "$(id -u </dev/null 8>&- 9>&-)" = 0 ] || flexnode_error E_NOT_ROOT start "this changes the host and must run as root"
}

# flexnode_find_arch: sets FLEXNODE_ARCH to amd64 or arm64, else prints E_PLATFORM and returns its code.
flexnode_find_arch() {
  FLEXNODE_ARCH=$(flexnode_x uname -m)
  case $FLEXNODE_ARCH in
    x86_64) FLEXNODE_ARCH=amd64 ;;
    aarch64) FLEXNODE_ARCH=arm64 ;;
    *) flexnode_error E_PLATFORM platform "there is no agent for the architecture ${FLEXNODE_ARCH:-(unknown)}" ;;
  esac
}

# flexnode_sync PATH…: returns when files and directories are on the disk. An old sync takes no operand and syncs all.
flexnode_sync() { flexnode_x sync -- "$@" 2>/dev/null || flexnode_x sync; }

# flexnode_exists PATH: is there anything by that name, a dangling link included?
flexnode_exists() { [ -e "$1" ] || [ -L "$1" ]; }

# flexnode_looks_like_json FILE: does FILE begin as a config does, with `{`?
flexnode_looks_like_json() {
  IFS= read -r flexnode_lj_line 2>/dev/null <"$1" || [ -n "$flexnode_lj_line" ] || return
  case ${flexnode_lj_line#"${flexnode_lj_line%%[! ]*}"} in '{'*) return 0 ;; *) return 1 ;; esac
}

# flexnode_is_clean_path PATH: absolute, not `/`, no `//`, `/.`, `/..` component, no trailing slash, no newline?
flexnode_is_clean_path() {
  case $1 in
    / | *"$FLEXNODE_NEWLINE"* | *//* | */) return 1 ;;
    */./* | */. | */../* | */..) return 1 ;;
    /*) return 0 ;;
    *) return 1 ;;
  esac
}

# flexnode_sha256 FILE: prints the 64 digits, or nothing and returns 1.
flexnode_sha256() {
  flexnode_sum=$(sha256sum <"$1" 8>&- 9>&-) || return 1
  printf '%s\n' "${flexnode_sum%% *}"
}
