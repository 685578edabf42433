# shellcheck shell=sh
# JSON without a JSON library: a list of operations, written to a file, is applied by jq or else by python3, with
# equal results. What is done is decided elsewhere (config.sh); the two programs here only know nine verbs:
#   merge NAME      payload is a JSON object that goes over what is there (objects recursively, the right side wins)
#   string PATH     payload is the value            default PATH   the same, where nothing or "" stands
#   true, false, object, ensure, delete PATH        (ensure: an object, the one that is there if there is one)
#   inherit PATH    payload is the path to copy from, where nothing or "" stands
#   require PATHS   payload is the error when none of the comma-separated paths holds anything
# A payload may be secret: it reaches the tools on stdin, never by argument or environment.
# Refused alike: what is not strict JSON in UTF-8, lone surrogates, more than 100 levels, and every number that is
# not an integer below 2^53 or a plain decimal, because jq would silently round it.

flexnode_json_find() { # sets FLEXNODE_JSON_TOOL
  for FLEXNODE_JSON_TOOL in jq python3; do
    if flexnode_has "$FLEXNODE_JSON_TOOL"; then return 0; fi
  done
  FLEXNODE_JSON_TOOL=
  flexnode_error E_TOOL tools "neither jq nor python3 is there, and one of them has to merge JSON" \
    "install jq or python3"
}

flexnode_json_begin() { # FILE: an empty list of operations
  FLEXNODE_JSON_OPS=$1
  FLEXNODE_JSON_COUNT=0
  FLEXNODE_JSON_WRITTEN=0
  true 2>/dev/null >"$FLEXNODE_JSON_OPS"
}

# flexnode_json_op VERB ARGUMENT <PAYLOAD: one newline at the end of the payload does not belong to it. Returns 0; what
# could not be written is noticed by flexnode_json_apply.
flexnode_json_op() {
  FLEXNODE_JSON_COUNT=$((FLEXNODE_JSON_COUNT + 1))
  if { printf '\036%s %s\n' "$1" "$2" && cat 8>&- 9>&-; } 2>/dev/null >>"$FLEXNODE_JSON_OPS"; then
    FLEXNODE_JSON_WRITTEN=$((FLEXNODE_JSON_WRITTEN + 1))
  fi
}

# Apply the list to {} and write the result to FILE. Else sets FLEXNODE_JSON_FAULT (an error id) and
# FLEXNODE_JSON_ERROR (what is wrong) and returns 1.
# shellcheck disable=SC2034 # the caller reads them
flexnode_json_apply() { # FILE
  FLEXNODE_JSON_FAULT=E_STATE
  FLEXNODE_JSON_ERROR="cannot write ${1%/*}"
  [ "$FLEXNODE_JSON_WRITTEN" -eq "$FLEXNODE_JSON_COUNT" ] || return 1
  flexnode_json_run apply "$FLEXNODE_JSON_COUNT" <"$FLEXNODE_JSON_OPS" 2>/dev/null >"$1" || return 1
  IFS= read -r flexnode_line <"$1" || return 1
  case $flexnode_line in
    '{' | '{}') ;;
    *) FLEXNODE_JSON_FAULT=E_CONFIG FLEXNODE_JSON_ERROR=$flexnode_line && return 1 ;;
  esac
}

flexnode_json_get() { # FILE PATH: print the string there, or nothing
  flexnode_json_run get "$2" <"$1"
}

# HOME is emptied because jq loads ~/.jq; -I keeps python3 from PYTHON* and the current directory.
flexnode_json_run() { # apply COUNT | get PATH, <INPUT
  case $FLEXNODE_JSON_TOOL in
    jq) HOME='' jq -R -s -r -S --arg verb "$1" --arg word "$2" "$(flexnode_json_jq)" 8>&- 9>&- ;;
    *) python3 -I -S -c "$(flexnode_json_python)" "$1" "$2" 8>&- 9>&- ;;
  esac
}

# Both programs print the result, or one line that does not begin with "{": the error. (halt_error needs jq 1.6.)
flexnode_json_jq() {
  cat 8>&- 9>&- <<'FLEXNODE_JQ'
def swap($a; $b): split($a) | join($b);
# A result of `try` is put into an array at once: jq before 1.7 also catches what fails after it.
def digits: length > 0 and (explode | all(.[]; . >= 48 and . <= 57));
def whole: digits and (length == 1 or .[0:1] != "0")
  and (length < 16 or (length == 16 and . < "9007199254740992"));
def number: ltrimstr("-") | split(".")
  | length > 0 and (.[0] | whole) and (length == 1 or (length == 2 and (.[1] | digits)));
def half($range): .[0:4] | ascii_downcase | .[0:1] == "d" and (.[1:2] | inside($range));
def lone: split("\\u") | . as $p | any(range(1; length); . as $i
  | ($p[$i] | half("89ab") and (length > 4 or ($p[$i + 1] // "" | half("cdef") | not)))
    or ($p[$i] | half("cdef")) and ($i < 2 or ($p[$i - 1] | (length > 4 or (half("89ab") | not)))));
def place: [try (fromjson | "") catch (": " + (split(" (while parsing")[0]))][0];
def document($name):
  (if contains("\ufffd") then error("\($name): not UTF-8 text") else . end)
  | (swap("\\\\"; "__") | swap("\\\""; "__") | split("\"")) as $parts
  | (reduce ("{", "}", "[", "]", ":", ",", "\t", "\n", "\r") as $c
      ([$parts[range(0; $parts | length; 2)]] | join(" "); swap($c; " "))
    | split(" ") | map(select(. != ""))) as $words
  | (reduce $words[] as $w (.; if $w | (. == "true" or . == "false" or . == "null" or number) then .
      elif [$w | explode[] | . < 43 or . > 57 and . != 69 and . != 101] | any then error("\($name): not JSON" + place)
      else error("\($name): a number that is neither an integer below 2^53 nor a plain decimal") end))
  | (if any($parts[range(1; $parts | length; 2)]; (explode | any(.[]; . < 32)) or lone) then
      error("\($name): a control character or half a surrogate pair in a string") else . end)
  | (if $parts == [] or ($parts == [$parts[0]] and $words == [] and (contains("{") or contains("[") | not)) then
      error("\($name): empty") else . end)
  | [try [fromjson] catch ("\($name): not JSON: " + (split(" (while parsing")[0]))][0]
  | if type == "string" then error(.) else .[0] end
  | if type != "object" then error("\($name): not a JSON object")
    elif ([paths | length] | max) > 100 then error("\($name): more than 100 levels") else . end;
def hollow: . == null or . == "";
def at($path): [try getpath($path) catch null][0];
def put($path; f):
  def go($i): if $i == ($path | length) then f
    elif . == null or type == "object" then (. // {}) | .[$path[$i]] |= go($i + 1)
    else error(($path[0:$i] | join(".")) + ": not a JSON object") end;
  go(0);
def step($verb; $word; $payload):
  ($word | split(".")) as $path
  | if $verb == "merge" then . * ($payload | document($word))
    elif $verb == "string" then put($path; $payload)
    elif $verb == "true" then put($path; true)
    elif $verb == "false" then put($path; false)
    elif $verb == "object" then put($path; {})
    elif $verb == "ensure" then put($path; if type == "object" then . else {} end)
    elif $verb == "delete" then if at($path[0:-1]) | type == "object" then delpaths([$path]) else . end
    elif $verb == "default" then put($path; if hollow then $payload else . end)
    elif $verb == "inherit" then at($payload | split(".")) as $value
      | if $value | hollow then . else put($path; if hollow then $value else . end) end
    elif $verb == "require" then
      if [at($word | split(",")[] | split("."))] | all(hollow) then error($payload) else . end
    else error("unknown operation \($verb)") end;
def apply:
  split("\u001e")[1:] | if length != ($word | tonumber) then error("a control character in the configuration")
  else reduce .[] as $op ({}; ($op | rtrimstr("\n") | split("\n")) as $lines
    | ($lines[0] | split(" ")) as $head
    | step($head[0]; $head[1:] | join(" "); $lines[1:] | join("\n"))) end;
if $verb == "apply" then try apply catch . else fromjson | at($word | split(".")) | strings end
FLEXNODE_JQ
}

flexnode_json_python() {
  cat 8>&- 9>&- <<'FLEXNODE_PYTHON'
import json, re, sys

class Bad(Exception):
    pass

def number(text):
    if not re.fullmatch(r"-?(0|[1-9][0-9]*)([.][0-9]+)?", text) or abs(int(text.split(".")[0])) >= 2**53:
        raise Bad("a number that is neither an integer below 2^53 nor a plain decimal")
    return float(text) if "." in text else int(text)

def constant(text):
    raise Bad("not JSON")

def levels(value):
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + max(map(levels, inner), default=-1) if isinstance(value, (dict, list)) and value else 0

def document(name, text):
    try:
        if "\ufffd" in text:
            raise Bad("not UTF-8 text")
        if not text.strip(" \t\r\n"):
            raise Bad("empty")
        value = json.loads(text, parse_int=number, parse_float=number, parse_constant=constant)
        json.dumps(value, ensure_ascii=False).encode()
        if not isinstance(value, dict):
            raise Bad("not a JSON object")
        if levels(value) > 100:
            raise Bad("more than 100 levels")
        return value
    except RecursionError:
        raise Bad(name + ": more than 100 levels")
    except UnicodeError:
        raise Bad(name + ": a control character or half a surrogate pair in a string")
    except ValueError as error:
        raise Bad(name + ": not JSON: " + str(error))
    except Bad as error:
        raise Bad(name + ": " + str(error))

def merge(left, right):
    both = dict(left)
    for key, value in right.items():
        old = both.get(key)
        both[key] = merge(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return both

def at(value, path):
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value

def put(root, path, change):
    here = root
    for n, key in enumerate(path[:-1], 1):
        if here.get(key) is None:
            here[key] = {}
        here = here[key]
        if not isinstance(here, dict):
            raise Bad(".".join(path[:n]) + ": not a JSON object")
    here[path[-1]] = change(here.get(path[-1]))

def drop(root, path):
    parent = at(root, path[:-1])
    if isinstance(parent, dict):
        parent.pop(path[-1], None)

def hollow(value):
    return value is None or value == ""

def step(root, verb, word, payload):
    path = word.split(".")
    if verb == "merge":
        return merge(root, document(word, payload))
    if verb == "delete":
        drop(root, path)
    elif verb == "inherit":
        value = at(root, payload.split("."))
        if not hollow(value):
            put(root, path, lambda old: value if hollow(old) else old)
    elif verb == "require":
        if all(hollow(at(root, p.split("."))) for p in word.split(",")):
            raise Bad(payload)
    else:
        put(root, path, {
            "string": lambda old: payload,
            "default": lambda old: payload if hollow(old) else old,
            "true": lambda old: True,
            "false": lambda old: False,
            "object": lambda old: {},
            "ensure": lambda old: old if isinstance(old, dict) else {},
        }[verb])
    return root

def apply(text, count):
    parts = text.split("\x1e")[1:]
    if len(parts) != count:
        raise Bad("a control character in the configuration")
    root = {}
    for part in parts:
        head, payload = (part[:-1] if part.endswith("\n") else part).split("\n", 1) if "\n" in part[:-1] else (part.rstrip("\n"), "")
        verb, word = head.split(" ", 1)
        root = step(root, verb, word, payload)
    return json.dumps(root, indent=2, sort_keys=True, ensure_ascii=False)

def main(verb, word):
    raw = sys.stdin.buffer.read()
    if verb == "get":
        value = at(json.loads(raw.decode()), word.split("."))
        out = value + "\n" if isinstance(value, str) else ""
    else:
        try:
            out = apply(raw.decode("utf-8", "replace"), int(word)) + "\n"
        except Bad as error:
            out = str(error) + "\n"
    sys.stdout.buffer.write(out.encode())

main(*sys.argv[1:])
FLEXNODE_PYTHON
}
