# shellcheck shell=sh
# root.sh: where things go. Only looks and prints; the probe is the one function that writes, and it cleans up.

# flexnode_resolve PATH: prints PATH with the links of its longest existing leading part resolved, the rest appended.
flexnode_resolve() (
  flexnode_re_rest=
  flexnode_re_part=$1
  while [ ! -e "${flexnode_re_part:-/}" ]; do
    flexnode_re_rest=/${flexnode_re_part##*/}$flexnode_re_rest
    flexnode_re_part=${flexnode_re_part%/*}
  done
  if [ -d "${flexnode_re_part:-/}" ]; then
    cd -P -- "${flexnode_re_part:-/}" || return
    PWD=${PWD%/}
  else
    PWD=$(readlink -f -- "$flexnode_re_part" </dev/null 8>&- 9>&-) || return
  fi
  printf '%s\n' "$PWD$flexnode_re_rest"
)

# flexnode_layout ROOT: prints the entries of the binary layout below ROOT (the markers), one a line.
flexnode_layout() {
  printf '%s\n' "$1/bin/$FLEXNODE_BINARY_NAME"
  for flexnode_la_name in blue green current last-good; do
    printf '%s\n' "$1/lib/$FLEXNODE_LIB_NAME/$FLEXNODE_BINARY_NAME-$flexnode_la_name"
  done
}

# flexnode_has_markers ROOT: is an agent installed below ROOT? A dangling link counts, helpers do not.
flexnode_has_markers() {
  flexnode_exists "$1/bin/$FLEXNODE_BINARY_NAME" && return
  for flexnode_ma_name in blue green current last-good; do
    flexnode_exists "$1/lib/$FLEXNODE_LIB_NAME/$FLEXNODE_BINARY_NAME-$flexnode_ma_name" && return
  done
  return 1
}

# flexnode_is_linked: is the host root exactly our link to the legacy root?
flexnode_is_linked() {
  [ -L "$FLEXNODE_HOST_ROOT" ] &&
    [ "$(readlink -- "$FLEXNODE_HOST_ROOT" </dev/null 8>&- 9>&-)" = "$FLEXNODE_LEGACY_ROOT" ]
}

# flexnode_planned_root: prints what the root will be after linking, as the agent's `host-root` does.
flexnode_planned_root() {
  if flexnode_is_linked && ! flexnode_has_markers "$FLEXNODE_LEGACY_ROOT"; then
    printf '%s/%s\n' "$(flexnode_resolve "${FLEXNODE_HOST_ROOT%/*}")" "${FLEXNODE_HOST_ROOT##*/}"
  elif ! flexnode_exists "$FLEXNODE_HOST_ROOT" && flexnode_has_markers "$FLEXNODE_LEGACY_ROOT"; then
    flexnode_resolve "$FLEXNODE_LEGACY_ROOT"
  else
    flexnode_resolve "$FLEXNODE_HOST_ROOT"
  fi
}

# flexnode_check_link LEGACY_WILL_HOLD: the rows of the linking table that refuse. LEGACY_WILL_HOLD is 1 when the
# legacy root holds an agent, or will after this run. Prints E_LAYOUT and returns its code, else returns 0.
flexnode_check_link() {
  [ ! -L "$FLEXNODE_HOST_ROOT" ] && [ -e "$FLEXNODE_HOST_ROOT" ] || return 0
  if [ ! -d "$FLEXNODE_HOST_ROOT" ]; then
    flexnode_error E_LAYOUT layout "$FLEXNODE_HOST_ROOT is neither a directory nor a link" "move it away"
  elif [ "$1" != 1 ]; then
    return 0
  elif flexnode_has_markers "$FLEXNODE_HOST_ROOT"; then
    flexnode_error E_LAYOUT layout \
      "an agent is installed under both $FLEXNODE_HOST_ROOT and $FLEXNODE_LEGACY_ROOT" \
      "run '$FLEXNODE_HOST_ROOT/bin/$FLEXNODE_BINARY_NAME reset', then uninstall.sh, then install again"
  else
    flexnode_error E_LAYOUT layout \
      "an agent is installed under $FLEXNODE_LEGACY_ROOT, but $FLEXNODE_HOST_ROOT is a directory" \
      "remove $FLEXNODE_HOST_ROOT if it is not needed, or uninstall the agent under $FLEXNODE_LEGACY_ROOT"
  fi
}

# flexnode_plan_link LEGACY_WILL_HOLD: emits the record that creates the link after placing, or nothing.
flexnode_plan_link() {
  if [ "$1" = 1 ] && ! flexnode_exists "$FLEXNODE_HOST_ROOT"; then
    flexnode_emit link - "$FLEXNODE_HOST_ROOT" "$FLEXNODE_LEGACY_ROOT"
  fi
}

# flexnode_nearest_dir PATH: sets FLEXNODE_RESULT to PATH or the nearest ancestor that exists.
flexnode_nearest_dir() {
  FLEXNODE_RESULT=$1
  while ! flexnode_exists "$FLEXNODE_RESULT"; do
    FLEXNODE_RESULT=${FLEXNODE_RESULT%/*}
    FLEXNODE_RESULT=${FLEXNODE_RESULT:-/}
  done
}

# flexnode_check_own_dirs: is each of our directories that is there a directory, and no link? What was written behind a
# link would stay there: uninstall follows none. Prints E_TARGET and returns its code.
flexnode_check_own_dirs() {
  for flexnode_od_dir in "$FLEXNODE_CONFIG_DIR" "$FLEXNODE_STATE_DIR" "$FLEXNODE_LOG_DIR"; do
    if [ -L "$flexnode_od_dir" ]; then
      flexnode_error E_TARGET target "$flexnode_od_dir is a link" \
        'make it a directory; another disk may be mounted there' || return
    elif [ -e "$flexnode_od_dir" ] && [ ! -d "$flexnode_od_dir" ]; then
      flexnode_error E_TARGET target "$flexnode_od_dir is not a directory" 'move it away' || return
    fi
  done
}

# flexnode_mount_of DIR: sets FLEXNODE_RESULT to the evidence for a message: `DIR is on SOURCE (TYPE at POINT, ro)`.
flexnode_mount_of() {
  flexnode_mo_best=''
  flexnode_mo_text='an unknown mount'
  flexnode_mo_dir=$(flexnode_resolve "$1")/
  # shellcheck disable=SC2034 # id, parent, device and root are skipped
  while read -r flexnode_mo_id flexnode_mo_parent flexnode_mo_device flexnode_mo_root flexnode_mo_point \
    flexnode_mo_options flexnode_mo_rest; do
    case $flexnode_mo_dir in "${flexnode_mo_point%/}/"*) ;; *) continue ;; esac
    [ "${#flexnode_mo_point}" -ge "${#flexnode_mo_best}" ] || continue
    flexnode_mo_best=$flexnode_mo_point
    flexnode_mo_rest=${flexnode_mo_rest#*- } # type source superoptions
    flexnode_mo_type=${flexnode_mo_rest%% *} flexnode_mo_rest=${flexnode_mo_rest#* }
    flexnode_mo_text="${flexnode_mo_rest%% *} ($flexnode_mo_type at $flexnode_mo_point"
    case ",$flexnode_mo_options,${flexnode_mo_rest##* }," in *,ro,*) flexnode_mo_text="$flexnode_mo_text, read-only" ;; esac
    case ",$flexnode_mo_options," in *,noexec,*) flexnode_mo_text="$flexnode_mo_text, noexec" ;; esac
    flexnode_mo_text="$flexnode_mo_text)"
  done </proc/self/mountinfo
  FLEXNODE_RESULT="$1 is on $flexnode_mo_text"
}

# flexnode_probe DIR ID STEP [REMEDY]: proves that DIR, or the nearest ancestor that exists, can hold an executable: creates,
# writes, chmods, executes, renames and deletes a file there. Otherwise prints the error ID with the evidence and
# returns its code. Access bits say nothing: root may write to what is mounted read-only.
flexnode_probe() {
  flexnode_nearest_dir "$1"
  flexnode_pr_dir=$FLEXNODE_RESULT
  [ -d "$flexnode_pr_dir" ] ||
    flexnode_error "$2" "$3" "$flexnode_pr_dir is not a directory" "move it away" || return
  flexnode_pr_file=${flexnode_pr_dir%/}/${FLEXNODE_TEMP_PREFIX}probe
  flexnode_refuse_dir "$flexnode_pr_file" "$2" "$3" && flexnode_refuse_dir "$flexnode_pr_file.renamed" "$2" "$3" || return
  flexnode_pr_words=$(flexnode_try_probe 2>&1 </dev/null 8>&- 9>&-) && return
  # Looks first: on a read-only file system removing what is not there complains about the file system.
  for flexnode_pr_left in "$flexnode_pr_file" "$flexnode_pr_file.renamed"; do
    [ ! -f "$flexnode_pr_left" ] || flexnode_x rm -f -- "$flexnode_pr_left"
  done
  flexnode_mount_of "$flexnode_pr_dir"
  flexnode_error "$2" "$3" "cannot $flexnode_pr_words in $flexnode_pr_dir: $FLEXNODE_RESULT" "${4-}"
}

# flexnode_refuse_dir NAME ID STEP: a directory by a temporary name is not ours, and what is written goes into it.
flexnode_refuse_dir() {
  [ ! -d "$1" ] || flexnode_error "$2" "$3" "$1 is a directory" 'move it away'
}

# flexnode_try_probe: the steps of the probe; prints the one that failed, with the reason if there is one.
flexnode_try_probe() {
  flexnode_pr_words=$(printf '#!/bin/sh\nexit 0\n' 2>&1 >"$flexnode_pr_file") && [ -s "$flexnode_pr_file" ] || {
    # dash's own printf hides why a write failed; the command tells.
    [ ! -e "$flexnode_pr_file" ] || flexnode_pr_words=$(env printf '#' 2>&1 >"$flexnode_pr_file")
    printf 'write a file (%s)\n' "${flexnode_pr_words##*: }"
    return 1
  }
  flexnode_pr_step='chmod a file' && chmod 0755 "$flexnode_pr_file" 2>/dev/null &&
    flexnode_pr_step='execute a file' && "$flexnode_pr_file" 2>/dev/null &&
    flexnode_pr_step='rename a file' && mv -f -- "$flexnode_pr_file" "$flexnode_pr_file.renamed" 2>/dev/null &&
    flexnode_pr_step='delete a file' && rm -f -- "$flexnode_pr_file.renamed" 2>/dev/null && return
  printf '%s\n' "$flexnode_pr_step"
  return 1
}
