# shellcheck shell=sh
# agent.sh: obtain the agent and check that it runs here: everything before the host changes. Works in the staging
# directory. place.sh puts the result in place. What is wanted comes in FLEXNODE_WANT_…: VERSION, ARCHIVE (file or
# URL), BINARY, SHA256, BASE_URL, REQUIRE_CHECKSUM, SKIP_VERIFY, NO_DOWNGRADE (each may be empty), and
# FLEXNODE_VERSION_FLAG, the option that pins a version.

# flexnode_open_staging: makes the staging directory, after removing what a killed run left. Proves first that the
# state directory's mount takes executables. Sets FLEXNODE_MADE_STATE (1: the state directory was not there).
# Prints E_STATE and returns its code.
flexnode_open_staging() {
  FLEXNODE_MADE_STATE=''
  flexnode_sweep_temporary
  flexnode_probe "$FLEXNODE_STATE_DIR" E_STATE staging || return
  if [ -d "$FLEXNODE_STATE_DIR" ]; then
    flexnode_reopen_staging
  else
    flexnode_make_state && FLEXNODE_MADE_STATE=1
  fi || flexnode_error E_STATE staging "cannot make $FLEXNODE_STAGING_DIR"
}

# flexnode_reopen_staging: empties or makes the staging directory in a state directory that is there. The mark that a
# killed run of ours made the state directory is heeded, and stays until the journal says so.
flexnode_reopen_staging() {
  if [ ! -e "$FLEXNODE_JOURNAL" ] && [ -f "$FLEXNODE_STATE_DIR/$FLEXNODE_STAGING_MARK" ]; then
    FLEXNODE_MADE_STATE=1
    for flexnode_op_entry in "$FLEXNODE_STAGING_DIR"/* "$FLEXNODE_STAGING_DIR"/.[!.]* "$FLEXNODE_STAGING_DIR"/..?*; do
      [ "$flexnode_op_entry" = "$FLEXNODE_STATE_DIR/$FLEXNODE_STAGING_MARK" ] || ! flexnode_exists "$flexnode_op_entry" ||
        flexnode_x rm -rf -- "$flexnode_op_entry" || return
    done
    return 0
  fi
  ! flexnode_exists "$FLEXNODE_STAGING_DIR" || flexnode_x rm -rf -- "$FLEXNODE_STAGING_DIR"
  flexnode_x mkdir -m 0700 -- "$FLEXNODE_STAGING_DIR"
}

# flexnode_make_state: makes the state directory with staging and the mark in it, all in one rename.
flexnode_make_state() {
  flexnode_op_dir=${FLEXNODE_STATE_DIR%/*}
  for flexnode_op_dir in "${flexnode_op_dir%/*}" "$flexnode_op_dir"; do
    [ -d "$flexnode_op_dir" ] || flexnode_x mkdir -m 0755 -- "$flexnode_op_dir" || return
  done
  flexnode_x mkdir -m 0755 -- "$FLEXNODE_STATE_NEW" &&
    flexnode_x mkdir -m 0700 -- "$FLEXNODE_STATE_NEW/${FLEXNODE_STAGING_DIR##*/}" &&
    { : >"$FLEXNODE_STATE_NEW/$FLEXNODE_STAGING_MARK"; } 2>/dev/null &&
    flexnode_x mv -- "$FLEXNODE_STATE_NEW" "$FLEXNODE_STATE_DIR"
}

# flexnode_close_staging: removes the staging directory, whatever temporary name is left, and the state directory
# when this run made it and nothing else came into it. May be called at any time, by a signal's trap too. Returns 0.
flexnode_close_staging() {
  flexnode_sweep_temporary
  if [ -n "${FLEXNODE_MADE_STATE-}" ] && [ -d "$FLEXNODE_STATE_DIR" ] && flexnode_is_only_staging; then
    flexnode_x mv -- "$FLEXNODE_STATE_DIR" "$FLEXNODE_STATE_NEW" && flexnode_x rm -rf -- "$FLEXNODE_STATE_NEW"
  elif flexnode_exists "$FLEXNODE_STAGING_DIR"; then
    flexnode_x rm -rf -- "$FLEXNODE_STAGING_DIR"
  fi
  return 0
}

# flexnode_is_only_staging: is there nothing in the state directory but staging?
flexnode_is_only_staging() {
  for flexnode_os_entry in "$FLEXNODE_STATE_DIR"/* "$FLEXNODE_STATE_DIR"/.[!.]* "$FLEXNODE_STATE_DIR"/..?*; do
    [ "$flexnode_os_entry" = "$FLEXNODE_STAGING_DIR" ] || ! flexnode_exists "$flexnode_os_entry" || return
  done
}

# flexnode_sweep_temporary: removes our temporary names where this script makes them. Only while the lock is held.
flexnode_sweep_temporary() {
  for flexnode_st_dir in / "${FLEXNODE_HOST_ROOT%/*}" "$FLEXNODE_HOST_ROOT" "$FLEXNODE_HOST_ROOT/bin" \
    "${FLEXNODE_LEGACY_ROOT%/*}" "$FLEXNODE_LEGACY_ROOT" "$FLEXNODE_LEGACY_ROOT/bin" \
    "${FLEXNODE_STATE_DIR%/*}" "$FLEXNODE_STATE_DIR"; do
    for flexnode_st_file in "${flexnode_st_dir%/}/$FLEXNODE_TEMP_PREFIX"*; do
      [ -f "$flexnode_st_file" ] || [ -L "$flexnode_st_file" ] || continue
      flexnode_x rm -f -- "$flexnode_st_file"
    done
  done
  ! flexnode_exists "$FLEXNODE_STATE_NEW" || flexnode_x rm -rf -- "$FLEXNODE_STATE_NEW"
}

# flexnode_need_tools: the tools of this file and place.sh; prints E_TOOL and returns its code.
flexnode_need_tools() {
  for flexnode_nt_tool in cat chmod cp mkdir mv od readlink rm rmdir stat sync timeout; do
    flexnode_need "$flexnode_nt_tool" coreutils || return
  done
  flexnode_need tar tar && flexnode_need gzip gzip && flexnode_need flock util-linux
}

# flexnode_check_wants: are the FLEXNODE_WANT_… values well-formed? Prints E_USAGE and returns its code.
flexnode_check_wants() {
  if [ -n "$FLEXNODE_WANT_SHA256" ] && ! flexnode_is_sum "$FLEXNODE_WANT_SHA256"; then
    flexnode_error E_USAGE options 'a SHA-256 sum has 64 hexadecimal digits' || return
  fi
  case $FLEXNODE_WANT_VERSION in
    *[!0-9A-Za-z._-]* | *..*) flexnode_error E_USAGE options "'$FLEXNODE_WANT_VERSION' is not a version" || return ;;
  esac
  FLEXNODE_WANT_BASE_URL=${FLEXNODE_WANT_BASE_URL%/}
}

# flexnode_obtain: brings the agent that is wanted to FLEXNODE_CANDIDATE, verified, mode 0755. Prints the error
# (E_VERSION, E_DOWNLOAD, E_URL, E_CHECKSUM, E_ARCHIVE, E_STATE, E_USAGE) and returns its code. A local file needs no network.
flexnode_obtain() {
  FLEXNODE_CANDIDATE=$FLEXNODE_STAGING_DIR/$FLEXNODE_BINARY_NAME
  flexnode_ob_archive=$FLEXNODE_STAGING_DIR/archive.tar.gz
  if [ -n "$FLEXNODE_WANT_BINARY" ]; then
    flexnode_copy_in "$FLEXNODE_WANT_BINARY" "$FLEXNODE_CANDIDATE" || return
    [ -z "$FLEXNODE_WANT_SHA256" ] ||
      flexnode_verify "$FLEXNODE_CANDIDATE" "$FLEXNODE_WANT_SHA256" "$FLEXNODE_WANT_BINARY" || return
  else
    case $FLEXNODE_WANT_ARCHIVE in
      '' | *://*) flexnode_download "$flexnode_ob_archive" || return ;;
      *)
        flexnode_copy_in "$FLEXNODE_WANT_ARCHIVE" "$flexnode_ob_archive" || return
        [ -z "$FLEXNODE_WANT_SHA256" ] ||
          flexnode_verify "$flexnode_ob_archive" "$FLEXNODE_WANT_SHA256" "$FLEXNODE_WANT_ARCHIVE" || return
        ;;
    esac
    flexnode_unpack "$flexnode_ob_archive" || return
  fi
  flexnode_x chmod 0755 -- "$FLEXNODE_CANDIDATE" || flexnode_error E_STATE staging 'chmod failed'
}

# flexnode_copy_in FILE COPY: takes a local file into staging first, so that what is checked is what is used.
flexnode_copy_in() {
  [ -f "$1" ] || flexnode_error E_USAGE obtain "$1 is not a file" "name a file that is there" || return
  flexnode_check_size "$1" E_ARCHIVE obtain || return
  flexnode_words cp -- "$1" "$2" && return
  flexnode_ci_words=$FLEXNODE_RESULT
  flexnode_mount_of "$FLEXNODE_STAGING_DIR"
  flexnode_error E_STATE obtain "cannot copy $1: $flexnode_ci_words: $FLEXNODE_RESULT"
}

# flexnode_plan_source: sets FLEXNODE_SOURCE to the URL or file that the agent comes from (without a request, so an
# unpinned version stays `(latest)`) and FLEXNODE_ARCHIVE_FILE to the archive's name in the release layout.
flexnode_plan_source() {
  FLEXNODE_ARCHIVE_FILE=${FLEXNODE_ARCHIVE_NAME%%\{*}$FLEXNODE_ARCH${FLEXNODE_ARCHIVE_NAME##*\}}
  FLEXNODE_SOURCE=${FLEXNODE_WANT_BINARY:-$FLEXNODE_WANT_ARCHIVE}
  [ -z "$FLEXNODE_SOURCE" ] || {
    flexnode_fill_in '{{OS}}' linux
    flexnode_fill_in '{{ARCH}}' "$FLEXNODE_ARCH"
    flexnode_fill_in '{{VERSION}}' "${FLEXNODE_VERSION:-(latest)}"
    flexnode_fill_in '{{ARCHIVE_NAME}}' "$FLEXNODE_ARCHIVE_FILE"
    return 0
  }
  FLEXNODE_SOURCE=$FLEXNODE_WANT_BASE_URL/download/${FLEXNODE_VERSION:-(latest)}/$FLEXNODE_ARCHIVE_FILE
}

# flexnode_fill_in PLACEHOLDER TEXT: replaces it in FLEXNODE_SOURCE when that is a URL.
flexnode_fill_in() {
  case $FLEXNODE_SOURCE in *://*"$1"*) ;; *) return 0 ;; esac
  FLEXNODE_SOURCE=${FLEXNODE_SOURCE%%"$1"*}$2${FLEXNODE_SOURCE#*"$1"}
  flexnode_fill_in "$1" "$2"
}

# flexnode_download ARCHIVE: finds the version, downloads, verifies. Fails closed.
flexnode_download() {
  FLEXNODE_VERSION=$FLEXNODE_WANT_VERSION
  case $FLEXNODE_WANT_ARCHIVE in
    '' | *'{{VERSION}}'*) [ -n "$FLEXNODE_VERSION" ] || flexnode_find_latest "$FLEXNODE_WANT_BASE_URL" || return ;;
  esac
  flexnode_plan_source
  flexnode_show_url "$FLEXNODE_SOURCE"
  flexnode_say "downloading $FLEXNODE_RESULT"
  flexnode_fetch "$FLEXNODE_SOURCE" "$1" || return
  if [ -n "$FLEXNODE_WANT_SHA256" ]; then
    flexnode_verify "$1" "$FLEXNODE_WANT_SHA256" 'the archive'
  elif [ -n "$FLEXNODE_WANT_SKIP_VERIFY" ]; then
    flexnode_warn 'the archive is not verified, as --insecure-skip-verify says'
  else
    flexnode_verify_by_list "$1"
  fi
}

# flexnode_verify_by_list ARCHIVE: verifies it by the checksums.txt beside FLEXNODE_SOURCE. Only a custom URL may do
# without, with a warning, and not with --require-checksum.
flexnode_verify_by_list() {
  flexnode_vl_url=${FLEXNODE_SOURCE%%[?#]*}
  flexnode_vl_name=${flexnode_vl_url##*/}
  flexnode_vl_query=${FLEXNODE_SOURCE#"$flexnode_vl_url"} # a signed query often opens the whole directory
  flexnode_vl_list=$FLEXNODE_STAGING_DIR/$FLEXNODE_CHECKSUMS_NAME
  flexnode_fetch "${flexnode_vl_url%/*}/$FLEXNODE_CHECKSUMS_NAME$flexnode_vl_query" "$flexnode_vl_list" \
    "${FLEXNODE_WANT_ARCHIVE:+may be missing}"
  case $? in
    0) flexnode_expected_sum "$flexnode_vl_list" "$flexnode_vl_name" && flexnode_verify "$1" "$FLEXNODE_RESULT" 'the archive' ;;
    1)
      [ -z "$FLEXNODE_WANT_REQUIRE_CHECKSUM" ] ||
        flexnode_error E_CHECKSUM checksum "there is no $FLEXNODE_CHECKSUMS_NAME beside the archive" "give its sum" || return
      flexnode_warn "the archive is not verified: there is no $FLEXNODE_CHECKSUMS_NAME beside it"
      ;;
    *) return "$(flexnode_exit_code E_DOWNLOAD)" ;;
  esac
}

# flexnode_check_html FILE: a portal's or proxy's page that came with status 200 is no archive; say what it is.
flexnode_check_html() {
  IFS= read -r flexnode_ht_line 2>/dev/null <"$1"
  case $flexnode_ht_line in
    *'<!DOCTYPE'* | *'<!doctype'* | *'<html'* | *'<HTML'*)
      flexnode_error E_ARCHIVE "$2" 'what came is an HTML page, not an archive' 'look for a portal or proxy in between'
      ;;
  esac
}

# flexnode_unpack ARCHIVE: takes the agent, and nothing else, out of ARCHIVE to FLEXNODE_CANDIDATE. The archive's
# owner and mode do not count, no path of it is ever made. Prints E_ARCHIVE and returns its code.
flexnode_unpack() {
  flexnode_un_tar=$FLEXNODE_STAGING_DIR/archive.tar
  flexnode_un_words=$FLEXNODE_STAGING_DIR/words
  flexnode_check_html "$1" archive || return
  flexnode_wait flexnode_run_gzip "$1" "$flexnode_un_tar" ||
    flexnode_unpack_failed 'it is damaged or too large' || return
  flexnode_check_size "$flexnode_un_tar" E_ARCHIVE archive || return
  # Names and types in two listings: the long one has columns that an archive can confuse, and shows links' targets.
  if flexnode_x tar -tf "$flexnode_un_tar" >"$FLEXNODE_STAGING_DIR/names" 2>"$flexnode_un_words" &&
    flexnode_x tar -tvf "$flexnode_un_tar" >"$FLEXNODE_STAGING_DIR/types" 2>"$flexnode_un_words"; then
    flexnode_find_member 3<"$FLEXNODE_STAGING_DIR/names" 4<"$FLEXNODE_STAGING_DIR/types" || return
    flexnode_x tar -xOf "$flexnode_un_tar" -- "$FLEXNODE_MEMBER" >"$FLEXNODE_CANDIDATE" 2>"$flexnode_un_words" &&
      flexnode_x rm -f -- "$flexnode_un_tar" && [ -s "$FLEXNODE_CANDIDATE" ] && return
  fi
  flexnode_unpack_failed 'it is damaged'
}

# flexnode_run_gzip ARCHIVE TAR: in a subshell of its own; the limit stops a small archive that unpacks without end.
flexnode_run_gzip() {
  ulimit -f $((FLEXNODE_ARCHIVE_LIMIT_MIB * 2048))
  exec gzip -dc <"$1" >"$2" 2>"$FLEXNODE_STAGING_DIR/words"
}

# flexnode_unpack_failed CAUSE: a full disk is not a damaged archive.
flexnode_unpack_failed() {
  flexnode_uf_words=
  IFS= read -r flexnode_uf_words <"$FLEXNODE_STAGING_DIR/words"
  case $flexnode_uf_words in
    *'No space left'* | *'Disk quota'* | *'write error'*)
      flexnode_mount_of "$FLEXNODE_STAGING_DIR"
      flexnode_error E_STATE archive "cannot unpack: ${flexnode_uf_words##*: }: $FLEXNODE_RESULT" 'free some space'
      ;;
    *) flexnode_error E_ARCHIVE archive "$1${flexnode_uf_words:+ ($flexnode_uf_words)}" ;;
  esac
}

# flexnode_find_member 3<NAMES 4<TYPES: sets FLEXNODE_MEMBER to the one regular file that is the agent. Refuses an
# archive with an absolute or climbing name, a link or a device, even though nothing but the agent is taken out.
flexnode_find_member() {
  FLEXNODE_MEMBER=
  while IFS= read -r flexnode_fm_name <&3; do
    IFS= read -r flexnode_fm_type <&4
    case /$flexnode_fm_name/ in
      //* | */../*) flexnode_error E_ARCHIVE archive "it holds an unsafe name: $flexnode_fm_name" || return ;;
    esac
    case $flexnode_fm_type in
      [-d]*" $flexnode_fm_name") ;;
      *) flexnode_error E_ARCHIVE archive "it holds a link or a device: $flexnode_fm_name" || return ;;
    esac
    case $flexnode_fm_type,${flexnode_fm_name##*/} in
      -*,"$FLEXNODE_BINARY_NAME" | -*,"$FLEXNODE_BINARY_NAME-linux-$FLEXNODE_ARCH")
        [ -z "$FLEXNODE_MEMBER" ] ||
          flexnode_error E_ARCHIVE archive "it holds the agent twice: $FLEXNODE_MEMBER, $flexnode_fm_name" || return
        FLEXNODE_MEMBER=$flexnode_fm_name
        ;;
    esac
  done
  [ -n "$FLEXNODE_MEMBER" ] ||
    flexnode_error E_ARCHIVE archive "it holds no $FLEXNODE_BINARY_NAME for $FLEXNODE_ARCH" 'use an agent archive'
}

# flexnode_ask BINARY ARGUMENT…: runs an agent with the time limit; its output goes to the staging files `answer` and
# `words`. Returns its status, 137 when it was killed for not answering.
flexnode_ask() { flexnode_wait flexnode_run_agent "$@"; }
flexnode_run_agent() {
  exec timeout -s KILL "$FLEXNODE_CANDIDATE_TIMEOUT_S" "$@" \
    >"$FLEXNODE_STAGING_DIR/answer" 2>"$FLEXNODE_STAGING_DIR/words"
}

# flexnode_read_version: sets FLEXNODE_RESULT to the version in the answer to `version`; returns 1 when there is none.
flexnode_read_version() {
  FLEXNODE_RESULT=
  while IFS=' ' read -r flexnode_rv_word flexnode_rv_rest; do
    [ "$flexnode_rv_word" != Version: ] || FLEXNODE_RESULT=$flexnode_rv_rest
  done <"$FLEXNODE_STAGING_DIR/answer"
  [ -n "$FLEXNODE_RESULT" ]
}

# flexnode_agent_failed COMMAND STATUS: prints E_CANDIDATE, saying how the candidate failed, and returns its code.
flexnode_agent_failed() {
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
