# Loaded first by every bats file: run by hand as root it would install, stop and remove things on this very machine.

[ "${FLEXKIT_SANDBOX-}" = 1 ] || {
  printf 'run it in a sandbox: flexkit test %s\n' "$BATS_TEST_FILENAME" >&2
  exit 1
}
