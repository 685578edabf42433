# shellcheck shell=sh
# guard.sh: was this script run (from a file, piped, by `<`, by -c) or sourced? Called by a script's end.
# A wrong `sourced` makes `curl | sh` a silent no-op, a wrong `run` acts inside somebody's shell: both are tested
# in every shell that we claim. Line 2 of each script is its mark, `# flexnode-mark-7c1e NAME`.

# flexnode_is_marked FILE MARK: is line 2 of FILE the mark? (Opens FILE anew: nobody's reading position moves.)
flexnode_is_marked() {
  { IFS= read -r flexnode_mark && IFS= read -r flexnode_mark; } 2>/dev/null <"$1" && [ "$flexnode_mark" = "$2" ]
}

# flexnode_how_by_descriptors MARK: sets FLEXNODE_HOW for a shell without BASH_SOURCE. Such a shell keeps the file
# that it reads from open above descriptor 2. Must not run in a subshell: dash closes that descriptor there.
flexnode_how_by_descriptors() {
  FLEXNODE_HOW=run
  IFS=' ' read -r flexnode_pid flexnode_rest </proc/self/stat || return 0
  for flexnode_fd in /proc/"$flexnode_pid"/fd/*; do
    case ${flexnode_fd##*/} in 0 | 1 | 2) continue ;; esac
    if [ -f "$flexnode_fd" ]; then
      flexnode_is_marked "$flexnode_fd" "$1" || continue
      [ -f "$0" ] && flexnode_is_marked "$0" "$1" || FLEXNODE_HOW=sourced
      return 0
    fi
    # A pipe that the shell itself opened (close-on-exec, so not inherited) and that is not $0: `. /dev/stdin`.
    [ -p "$flexnode_fd" ] && [ ! -p "$0" ] || continue
    while IFS=':	 ' read -r flexnode_rest flexnode_mark; do
      case $flexnode_rest,$flexnode_mark in flags,*2??????) FLEXNODE_HOW=sourced ;; esac
    done <"/proc/$flexnode_pid/fdinfo/${flexnode_fd##*/}"
  done
}

# flexnode_is_run MARK: returns 0 when the script was run, 1 when it was sourced. FLEXNODE_SOURCE_ONLY=1 says
# sourced. Leaves no variable and no option behind; prints nothing.
flexnode_is_run() {
  FLEXNODE_HOW=
  # shellcheck disable=SC3028 # only read in bash, empty elsewhere
  case ${BASH_VERSION:+${BASH_SOURCE-}} in
    '') ;;
    main | environment | "$0") FLEXNODE_HOW=run ;;
    *) FLEXNODE_HOW=sourced ;;
  esac
  [ "${FLEXNODE_SOURCE_ONLY-}" != 1 ] || FLEXNODE_HOW=sourced
  if [ -z "$FLEXNODE_HOW" ] && [ -n "${BASH_VERSION-}" ]; then FLEXNODE_HOW=run; fi
  if [ -z "$FLEXNODE_HOW" ]; then
    case $- in
      *f*) set +f && flexnode_how_by_descriptors "$1" && set -f ;;
      *) flexnode_how_by_descriptors "$1" ;;
    esac
  fi
  flexnode_mark=$FLEXNODE_HOW
  unset FLEXNODE_HOW flexnode_pid flexnode_rest flexnode_fd
  case $flexnode_mark in
    run) unset flexnode_mark && return 0 ;;
    *) unset flexnode_mark && return 1 ;;
  esac
}
