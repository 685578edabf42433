# shellcheck disable=SC2016,SC2154 # snippets expand in the shell that runs them; bats sets status and output
# Loaded by the bats files of the library: runs a snippet with install.sh's functions in each shell that we claim.

INSTALL=$BATS_TEST_DIRNAME/../../scripts/install.sh

# each_shell EXPECTED SNIPPET: SNIPPET, run after the functions were loaded, prints EXPECTED (stdout and stderr).
# In SNIPPET, T is a directory of its own, which also holds every path that the library writes to.
each_shell() {
  local shell
  for shell in dash bash 'busybox ash'; do
    T=$BATS_TEST_TMPDIR/${shell%% *}
    rm -rf "$T" && mkdir -p "$T/etc" "$T/opt" "$T/usr/local/bin" "$T/var/lib" "$T/run"
    run $shell -c '. "$1"; T=$2; flexnode_begin test :
      FLEXNODE_OPT_QUIET= FLEXNODE_OPT_VERBOSE= FLEXNODE_OPT_LOG= FLEXNODE_OPT_WAIT=
      FLEXNODE_HOST_ROOT=$T/opt/unbounded FLEXNODE_LEGACY_ROOT=$T/usr/local FLEXNODE_LOCK=$T/run/lock
      FLEXNODE_STATE_DIR=$T/var/lib FLEXNODE_STAGING_DIR=$T/var/lib/staging FLEXNODE_JOURNAL=$T/var/lib/journal
      eval "$3"' "$shell" "$INSTALL" "$T" "$2" </dev/null
    [ "${output//"$T"/T}" = "$1" ] || { printf '%s gave %s:\n%s\n' "$shell" "$status" "${output//"$T"/T}" && return 1; }
  done
}
