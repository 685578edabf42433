#!/usr/bin/env bats
# shellcheck disable=SC2016 # snippets expand in the shell that runs them
# URLs, versions, checksum files: what is decided before and after a download.

load only_in_sandbox.bash
load shells.bash

URLS='for u in "$@"; do flexnode_check_url "$u" 2>/dev/null && printf "%s\n" "$u"; done'
SUM=ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad
SUMS="sums() { flexnode_expected_sum \$T/sums agent.tar.gz && echo \$FLEXNODE_RESULT; }"

@test "https is fine, and http to a literal loopback address" {
  each_shell $'https://example.com/a\nhttp://127.0.0.1:8000/a\nhttp://127.1/a\nhttp://[::1]:80/a\nhttp://[::1]/a' \
    "set -- https://example.com/a http://127.0.0.1:8000/a http://127.1/a 'http://[::1]:80/a' 'http://[::1]/a'; $URLS"
}
@test "http to anywhere else is refused, whatever it looks like" {
  each_shell '' "set -- http://example.com/a http://localhost/a http://127.evil.example/a http://127.0.0.1@evil.example/a \
    http://127.0.0.1:80@evil.example/a 'http://[::1]@evil.example/' http://evil.example/127.0.0.1 http://128.0.0.1/; $URLS"
}
@test "other schemes and URLs without a host are refused" {
  each_shell '' "set -- ftp://127.0.0.1/a file:///etc/passwd https:///a https://?a HTTPS://a //a a ''; $URLS"
}
@test "a URL with a quote, a space or a control character is refused" {
  each_shell '' "set -- 'https://a/\"b' 'https://a/ b' 'https://a/\\b' 'https://a/
url = \"https://b\"'; $URLS"
}
@test "a redirect may lead to https, to loopback only from loopback" {
  each_shell $'a\nb' 'flexnode_check_url https://b/ http://127.0.0.1/ && echo a; flexnode_check_url http://127.0.0.1/ http://127.0.0.1/ && echo b
    { flexnode_check_url http://127.0.0.1/ https://b/ || flexnode_check_url http://b/ https://b/; } 2>/dev/null && echo c; :'
}
@test "a URL is shown without user info, query and fragment" {
  each_shell $'https://h:1/a/b\nhttps://h\nhttps://h/a' \
    'for u in "https://u:p@h:1/a/b?sig=x" "https://h?sig=x" "https://h/a#f"; do flexnode_show_url "$u"; echo "$FLEXNODE_RESULT"; done'
}
@test "an error about a URL does not show its secrets" {
  each_shell 'test: error: download: http://h/a is neither https nor a loopback address; use https, or http to a loopback address [E_URL]' \
    'flexnode_check_url "http://user:pass@h/a?sig=secret" || :'
}
@test "versions look like v1.2.3 or v1.2.3-pre" {
  each_shell 'v1.2.3 v0.10.0-rc.1 v1.2.3-a-b ' \
    'for v in v1.2.3 v0.10.0-rc.1 v1.2.3-a-b stable latest 1.2.3 v1.2 v1.2.3.4 v1.2.3- v1.2.x v1..3 "v1.2.3-a b" "v1.2.3-a/b" v1.2.3+b ""; do
       ! flexnode_is_version "$v" || printf "%s " "$v"; done'
}
@test "older and newer, numbers as numbers, a pre-release before its release" {
  each_shell 'v1.9.0<v1.10.0 v1.2.3<v2.0.0 v1.2.3-rc.1<v1.2.3 v1.2.3-a<v1.2.3-b ' \
    'older() { ! flexnode_is_older $1 $2 || printf "%s<%s " $1 $2; }
     older v1.9.0 v1.10.0; older v1.10.0 v1.9.0; older v1.2.3 v2.0.0; older v1.2.3-rc.1 v1.2.3; older v1.2.3 v1.2.3-rc.1
     older v1.2.3 v1.2.3; older v1.2.3-a v1.2.3-b; older v1.2.3-b v1.2.3-a; older dev v1.0.0; older v1.0.0 dev'
}
@test "checksums: text and binary marker, and CRLF" {
  each_shell $SUM$'\n'$SUM$'\n'$SUM "$SUMS; printf '$SUM  agent.tar.gz\n' >\$T/sums; sums; printf '$SUM *agent.tar.gz' >\$T/sums; sums
    printf 'x\r\n$SUM  agent.tar.gz\r\n' >\$T/sums; sums"
}
@test "checksums: only the exact name counts" {
  each_shell 'test: error: checksum: checksums.txt has no line for agent.tar.gz; download again, or check the sum [E_CHECKSUM]' \
    "$SUMS; printf '$SUM  x-agent.tar.gz\n$SUM  dir/agent.tar.gz\n$SUM  agent.tar.gz.sig\n$SUM  my agent.tar.gz\n${SUM}  agent-tar-gz\n' >\$T/sums; sums || :"
}
@test "checksums: two lines for one name are an error" {
  each_shell 'test: error: checksum: checksums.txt has two lines for agent.tar.gz; download again, or check the sum [E_CHECKSUM]' \
    "$SUMS; printf '$SUM  agent.tar.gz\n$SUM *agent.tar.gz\n' >\$T/sums; sums || :"
}
@test "checksums: what is not 64 hexadecimal digits is an error" {
  each_shell 'test: error: checksum: checksums.txt has no SHA-256 sum for agent.tar.gz; download again, or check the sum [E_CHECKSUM]' \
    "$SUMS; printf '${SUM%?}  agent.tar.gz\n' >\$T/sums; sums || :"
}
@test "a sum may be given in capitals" {
  each_shell '0' "printf abc >\$T/f; flexnode_verify \$T/f ${SUM^^} it; echo \$?"
}
@test "a wrong sum names both" {
  each_shell "test: error: checksum: it has the sum $SUM, not ${SUM/b/c}; download again, or check the sum [E_CHECKSUM]" \
    "printf abc >\$T/f; flexnode_verify \$T/f ${SUM/b/c} it || :"
}
@test "placeholders of a custom URL are replaced, those of a file name are not" {
  each_shell $'https://h/linux/amd64/v1/aks-flex-node-linux-amd64.tar.gz\n/a/{{OS}}' \
    'FLEXNODE_WANT_BINARY= FLEXNODE_ARCH=amd64 FLEXNODE_VERSION=v1
     for FLEXNODE_WANT_ARCHIVE in "https://h/{{OS}}/{{ARCH}}/{{VERSION}}/{{ARCHIVE_NAME}}" "/a/{{OS}}"; do flexnode_plan_source; echo $FLEXNODE_SOURCE; done'
}
