# shellcheck shell=sh
# agent.sh: obtain the agent: all before the host changes. Works in the staging directory; unpack.sh takes the agent out
# of an archive, candidate.sh asks it whether it runs here, place.sh puts it in place. What is wanted comes in FLEXNODE_WANT_…: VERSION, ARCHIVE (file or
# URL), BINARY, SHA256, BASE_URL, REQUIRE_CHECKSUM, SKIP_VERIFY, NO_DOWNGRADE (each may be empty), and
# FLEXNODE_VERSION_FLAG, the option that pins a version.

# flexnode_open_staging: makes the staging directory, after removing what a killed run left. Proves first that the
# state directory's mount takes executables. Sets FLEXNODE_MADE_STATE (1: the state directory was not there).
# Prints E_STATE and returns its code.
flexnode_open_staging() {
  FLEXNODE_MADE_STATE=''
  FLEXNODE_STAGED_HERE=1
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
  if flexnode_is_state_marked; then
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

# flexnode_is_state_marked: was the state directory made by a run of ours that never came to its journal?
flexnode_is_state_marked() {
  [ ! -e "$FLEXNODE_JOURNAL" ] && [ -f "$FLEXNODE_STATE_DIR/$FLEXNODE_STAGING_MARK" ]
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
# A run that has not opened it yet touches nothing: what is there is another run's.
flexnode_close_staging() {
  [ -n "${FLEXNODE_STAGED_HERE-}" ] || return 0
  FLEXNODE_STAGED_HERE=
  flexnode_sweep_temporary
  # The mark: a signal may come between the making and the note of it.
  if { [ -n "${FLEXNODE_MADE_STATE-}" ] || flexnode_is_state_marked; } && [ -d "$FLEXNODE_STATE_DIR" ] && flexnode_is_only_staging; then
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
      if [ -d "$flexnode_st_file" ] && [ ! -L "$flexnode_st_file" ]; then continue; fi
      flexnode_exists "$flexnode_st_file" || continue
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
    flexnode_verify_local "$FLEXNODE_CANDIDATE" "$FLEXNODE_WANT_BINARY" || return
  else
    case $FLEXNODE_WANT_ARCHIVE in
      '' | *://*) flexnode_download "$flexnode_ob_archive" || return ;;
      *)
        flexnode_copy_in "$FLEXNODE_WANT_ARCHIVE" "$flexnode_ob_archive" || return
        flexnode_verify_local "$flexnode_ob_archive" "$FLEXNODE_WANT_ARCHIVE" || return
        ;;
    esac
    flexnode_unpack "$flexnode_ob_archive" || return
  fi
  flexnode_x chmod 0755 -- "$FLEXNODE_CANDIDATE" || flexnode_error E_STATE staging 'chmod failed'
}

# flexnode_copy_in FILE COPY: takes a local file into staging first, so that what is checked is what is used.
flexnode_copy_in() {
  flexnode_check_local "$1" || return
  flexnode_words cp -- "$1" "$2" && return
  flexnode_ci_words=$FLEXNODE_RESULT
  flexnode_mount_of "$FLEXNODE_STAGING_DIR"
  flexnode_error E_STATE obtain "cannot copy $1: $flexnode_ci_words: $FLEXNODE_RESULT"
}

# flexnode_check_local FILE: is it a file of an agent's size? Prints E_USAGE or E_ARCHIVE and returns its code.
flexnode_check_local() {
  [ -f "$1" ] || flexnode_error E_USAGE obtain "$1 is not a file" "name a file that is there" || return
  flexnode_check_size "$1" E_ARCHIVE obtain
}

# flexnode_verify_local COPY FILE: verifies the COPY of a local FILE by the sum that was given; where a sum is required,
# else by the checksums.txt beside FILE. Prints E_CHECKSUM and returns its code.
flexnode_verify_local() {
  if [ -n "$FLEXNODE_WANT_SHA256" ]; then
    flexnode_verify "$1" "$FLEXNODE_WANT_SHA256" "$2"
  elif [ -n "$FLEXNODE_WANT_REQUIRE_CHECKSUM" ]; then
    case $2 in
      */*) flexnode_vo_list=${2%/*}/$FLEXNODE_CHECKSUMS_NAME ;;
      *) flexnode_vo_list=./$FLEXNODE_CHECKSUMS_NAME ;;
    esac
    [ -f "$flexnode_vo_list" ] ||
      flexnode_error E_CHECKSUM checksum "there is no $FLEXNODE_CHECKSUMS_NAME beside $2" 'give its sum' || return
    flexnode_expected_sum "$flexnode_vo_list" "${2##*/}" && flexnode_verify "$1" "$FLEXNODE_RESULT" "$2"
  fi
}

# flexnode_check_source: for --plan: would FLEXNODE_SOURCE be taken, as far as can be known without a request? Prints
# the run's own error and returns its code, or sets FLEXNODE_RESULT to what may be shown of it.
flexnode_check_source() {
  case $FLEXNODE_WANT_BINARY,$FLEXNODE_WANT_ARCHIVE in
    , | ,*://*) flexnode_check_url "$FLEXNODE_SOURCE" ;;
    *)
      flexnode_check_local "$FLEXNODE_SOURCE" && flexnode_verify_local "$FLEXNODE_SOURCE" "$FLEXNODE_SOURCE" || return
      FLEXNODE_RESULT=$FLEXNODE_SOURCE
      ;;
  esac
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
  ! flexnode_wants_progress || FLEXNODE_PROGRESS=1
  flexnode_fetch "$FLEXNODE_SOURCE" "$1" || return
  FLEXNODE_PROGRESS=''
  flexnode_check_page "$1" E_ARCHIVE archive 'an archive' || return
  if [ -n "$FLEXNODE_WANT_SHA256" ]; then
    flexnode_verify "$1" "$FLEXNODE_WANT_SHA256" 'the archive'
  elif [ -n "$FLEXNODE_WANT_SKIP_VERIFY" ]; then
    flexnode_warn 'the archive is not verified, as --insecure-skip-verify says: whoever altered it runs code as root'
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
  set -- "$1" "$?"
  case $2 in
    0)
      flexnode_check_page "$flexnode_vl_list" E_CHECKSUM checksum 'a list of sums' || return
      flexnode_expected_sum "$flexnode_vl_list" "$flexnode_vl_name" && flexnode_verify "$1" "$FLEXNODE_RESULT" 'the archive'
      ;;
    1)
      [ -z "$FLEXNODE_WANT_REQUIRE_CHECKSUM" ] ||
        flexnode_error E_CHECKSUM checksum "there is no $FLEXNODE_CHECKSUMS_NAME beside the archive" "give its sum" || return
      flexnode_warn "the archive is not verified: there is no $FLEXNODE_CHECKSUMS_NAME beside it"
      ;;
    *) return "$2" ;;
  esac
}
