# shellcheck shell=sh
# What bootstrap.sh writes into config.json: base config, target flags, overrides, bootstrap source, node name and
# authentication, in an order that nothing else decides. Only a list of operations is made here (json.sh applies it).

# Take the credentials out of the environment, before the first child is started and before the options are parsed:
# a flag clears what the environment says, so the two must be told apart. (unset first: an assignment to a variable
# that came from the environment would export it.)
flexnode_config_take_credentials() {
  unset FLEXNODE_SECRET
  FLEXNODE_SECRET=${AKS_FLEX_NODE_SP_CLIENT_SECRET-}
  FLEXNODE_TWIN_SECRET_FILE=${AKS_FLEX_NODE_SP_CLIENT_SECRET_FILE-}
  FLEXNODE_TWIN_CERTIFICATE_FILE=${AKS_FLEX_NODE_SP_CLIENT_CERTIFICATE_FILE-}
  FLEXNODE_TWIN_OVERRIDES=${AKS_FLEX_NODE_CONFIG_OVERRIDES:+1}
  FLEXNODE_TWIN_OVERRIDES=${FLEXNODE_TWIN_OVERRIDES:-0} # how many of the overrides are from there
  unset AKS_FLEX_NODE_SP_CLIENT_SECRET AKS_FLEX_NODE_SP_CLIENT_SECRET_FILE AKS_FLEX_NODE_SP_CLIENT_CERTIFICATE_FILE
}

# All that is wrong with the options themselves, before any effect. Sets FLEXNODE_AUTH and the credential.
flexnode_config_check() {
  flexnode_config_method && flexnode_config_one_line && flexnode_config_path && flexnode_config_credential
}

flexnode_config_path() {
  FLEXNODE_OPT_CONFIG_PATH=${FLEXNODE_OPT_CONFIG_PATH:-$FLEXNODE_CONFIG_PATH}
  case $FLEXNODE_OPT_CONFIG_PATH in
    *[![:graph:]]*) ;; # the path stands in a unit file, where white space would part it
    *) if flexnode_is_clean_path "$FLEXNODE_OPT_CONFIG_PATH"; then return 0; fi ;;
  esac
  flexnode_error E_USAGE options "--config-path is not a clean absolute path" "name a file like $FLEXNODE_CONFIG_PATH"
}

flexnode_config_method() {
  case $FLEXNODE_OPT_AUTH in
    '') FLEXNODE_AUTH= ;;
    [Mm][Ss][Ii] | [Mm][Aa][Nn][Aa][Gg][Ee][Dd]-[Ii][Dd][Ee][Nn][Tt][Ii][Tt][Yy]) FLEXNODE_AUTH=msi ;;
    [Aa][Rr][Cc]) FLEXNODE_AUTH=arc ;;
    [Ss][Pp] | [Ss][Ee][Rr][Vv][Ii][Cc][Ee]-[Pp][Rr][Ii][Nn][Cc][Ii][Pp][Aa][Ll]) FLEXNODE_AUTH=sp ;;
    *) flexnode_error E_USAGE options "--auth knows no such method" "give msi, arc or sp" ;;
  esac
}

# At most one of secret, secret file and certificate. Sets FLEXNODE_CREDENTIAL_FILE, or leaves FLEXNODE_SECRET.
flexnode_config_credential() {
  if [ -n "$FLEXNODE_OPT_SP_CLIENT_SECRET_FILE" ] && [ -n "$FLEXNODE_OPT_SP_CLIENT_CERTIFICATE_FILE" ]; then
    flexnode_error E_USAGE options "--sp-client-secret-file and --sp-client-certificate-file exclude each other" \
      "give one of them" || return
  fi
  if [ -n "$FLEXNODE_OPT_SP_CLIENT_SECRET_FILE$FLEXNODE_OPT_SP_CLIENT_CERTIFICATE_FILE" ]; then
    FLEXNODE_SECRET=
  else
    FLEXNODE_OPT_SP_CLIENT_SECRET_FILE=$FLEXNODE_TWIN_SECRET_FILE
    FLEXNODE_OPT_SP_CLIENT_CERTIFICATE_FILE=$FLEXNODE_TWIN_CERTIFICATE_FILE
    case ${FLEXNODE_SECRET:+1}${FLEXNODE_TWIN_SECRET_FILE:+1}${FLEXNODE_TWIN_CERTIFICATE_FILE:+1} in
      11*)
        flexnode_error E_CREDENTIALS options "the environment has more than one of secret, secret file, certificate" \
          "leave one of the AKS_FLEX_NODE_SP_CLIENT_ variables" || return
        ;;
    esac
  fi
  FLEXNODE_CREDENTIAL_FILE=$FLEXNODE_OPT_SP_CLIENT_SECRET_FILE$FLEXNODE_OPT_SP_CLIENT_CERTIFICATE_FILE
  if [ "$FLEXNODE_AUTH" != sp ]; then
    flexnode_config_unused
  elif [ -n "$FLEXNODE_CREDENTIAL_FILE" ]; then
    flexnode_config_check_file "$FLEXNODE_CREDENTIAL_FILE" "$FLEXNODE_OPT_SP_CLIENT_CERTIFICATE_FILE"
  fi
}

# Without --auth the base config decides, so these do nothing; somebody who gave them should know.
flexnode_config_unused() {
  if [ -n "$FLEXNODE_SECRET$FLEXNODE_CREDENTIAL_FILE$FLEXNODE_OPT_SP_CLIENT_ID$FLEXNODE_OPT_SP_TENANT_ID" ]; then
    flexnode_warn "the service principal that was given is not used without --auth sp"
  fi
  if [ -n "$FLEXNODE_OPT_MSI_CLIENT_ID" ] && [ "$FLEXNODE_AUTH" != msi ]; then
    flexnode_warn "the client id of a managed identity is not used without --auth msi"
  fi
}

# The agent reads the file for years: it must be there for the agent and for nobody else.
flexnode_config_check_file() { # FILE CERTIFICATE: when not empty, FILE holds a certificate
  flexnode_fault=
  case $1 in
    /*) ;;
    *) flexnode_fault="is not an absolute path" ;;
  esac
  if [ -n "$flexnode_fault" ]; then
    :
  elif [ -h "$1" ]; then
    flexnode_fault="is a symbolic link"
  elif [ ! -f "$1" ]; then
    flexnode_fault="is not a regular file"
  elif [ ! -s "$1" ]; then
    flexnode_fault="is empty"
  else
    case $(flexnode_x stat -c %a -- "$1") in
      0 | *00) ;;
      *) flexnode_fault="can be read by others than its owner; chmod 0600 it" ;;
    esac
  fi
  if [ -z "$flexnode_fault" ] && [ -n "$2" ] && ! flexnode_config_is_certificate "$1"; then
    flexnode_fault="is neither PEM nor named .pfx or .p12"
  fi
  [ -z "$flexnode_fault" ] || flexnode_error E_CREDENTIALS "check the credential" "$1 $flexnode_fault"
}

flexnode_config_is_certificate() { # FILE
  case $1 in
    *.[Pp][Ff][Xx] | *.[Pp]12) return 0 ;;
  esac
  while IFS= read -r flexnode_line; do
    case $flexnode_line in
      '-----BEGIN '*) return 0 ;;
    esac
  done <"$1"
  return 1
}

# Identifiers and addresses are single words of the config; a line break in one is a mistake of the caller.
flexnode_config_one_line() {
  case $FLEXNODE_OPT_MSI_CLIENT_ID$FLEXNODE_OPT_SP_TENANT_ID$FLEXNODE_OPT_SP_CLIENT_ID in
    *[[:cntrl:]]*) flexnode_error E_USAGE options "an --msi- or --sp- option holds a control character" || return ;;
  esac
  case $FLEXNODE_OPT_CLUSTER_RESOURCE_ID$FLEXNODE_OPT_AGENT_POOL_NAME$FLEXNODE_OPT_RESOURCE_MANAGER_ENDPOINT in
    *[[:cntrl:]]*) flexnode_error E_USAGE options "a target option holds a control character" || return ;;
  esac
  case $FLEXNODE_OPT_BOOTSTRAP_OCI_IMAGE$FLEXNODE_OPT_BOOTSTRAP_OFFLINE_ARTIFACTS_SOURCE in
    *[[:cntrl:]]*) flexnode_error E_USAGE options "a source option holds a control character" || return ;;
  esac
  case $FLEXNODE_OPT_SP_CLIENT_SECRET_FILE$FLEXNODE_OPT_SP_CLIENT_CERTIFICATE_FILE$FLEXNODE_TWIN_SECRET_FILE$FLEXNODE_TWIN_CERTIFICATE_FILE in
    *[[:cntrl:]]*) flexnode_error E_USAGE options "the name of a credential file holds a control character" || return ;;
  esac
}

# The base config: the file that was given, else the text in this script.
flexnode_config_base() {
  if [ -n "$FLEXNODE_OPT_BASE_CONFIG" ]; then
    if [ ! -f "$FLEXNODE_OPT_BASE_CONFIG" ] || [ ! -r "$FLEXNODE_OPT_BASE_CONFIG" ]; then
      flexnode_error E_CONFIG "read the base config" "$FLEXNODE_OPT_BASE_CONFIG cannot be read" \
        "give --base-config a readable file" || return
    fi
    flexnode_one_line "base config $FLEXNODE_OPT_BASE_CONFIG"
    flexnode_json_op merge "$FLEXNODE_RESULT" <"$FLEXNODE_OPT_BASE_CONFIG"
    return
  fi
  flexnode_text=$(flexnode_embedded_config)
  # In two parts, because whoever fills in the config replaces the one line that holds the whole word.
  [ "$flexnode_text" != __AKS_FLEX_NODE_'BASE_CONFIG_JSON__' ] ||
    flexnode_error E_CONFIG "read the base config" "embedded base config is not populated" "give --base-config FILE" ||
    return
  flexnode_json_op merge 'embedded base config' <<FLEXNODE_VALUE
$flexnode_text
FLEXNODE_VALUE
}

# Render the config into FILE, 0600. FILE.ops, in the same directory (0700), does not survive.
flexnode_config_render() { # FILE
  flexnode_json_begin "$1.ops"
  flexnode_config_operations
  flexnode_status=$?
  if [ "$flexnode_status" -eq 0 ] && ! flexnode_json_apply "$1"; then
    flexnode_config_fault "$FLEXNODE_JSON_FAULT" "$FLEXNODE_JSON_ERROR"
    flexnode_status=$?
  fi
  flexnode_x rm -f -- "$1.ops"
  [ "$flexnode_status" -eq 0 ] || return "$flexnode_status"
  flexnode_x chmod 0600 -- "$1"
  flexnode_config_check_rendered "$1"
}

# flexnode_config_fault ID CAUSE: what is wrong is named by the cause: a file, an option, or a key that they make.
flexnode_config_fault() {
  case $1,$2 in
    E_CONFIG,*'base config '*:* | E_CONFIG,--* | E_CONFIG,AKS_*) flexnode_error "$1" "render the config" "$2" "correct it" ;;
    *) flexnode_error "$1" "render the config" "$2" ;;
  esac
}

# For --plan: what rendering would say, and nothing is written: the operations go through a pipe, after a first pass
# that counts them.
flexnode_config_try() {
  flexnode_json_find || return
  flexnode_json_begin /dev/null
  flexnode_config_operations || return
  FLEXNODE_JSON_OPS=/proc/self/fd/1
  flexnode_line=$(flexnode_config_operations | flexnode_json_run apply "$FLEXNODE_JSON_COUNT" 2>/dev/null)
  case $flexnode_line in
    '{'*) return 0 ;;
    *) flexnode_config_fault E_CONFIG "$flexnode_line" ;;
  esac
}

# The order decides what beats what.
flexnode_config_operations() {
  flexnode_config_base || return
  flexnode_config_target
  FLEXNODE_OVERRIDE=0
  flexnode_each_config_overrides flexnode_config_override
  flexnode_config_target
  flexnode_config_source
  flexnode_config_value default agent.nodeName "$(tr '[:upper:]' '[:lower:]' </proc/sys/kernel/hostname 8>&- 9>&-)"
  flexnode_config_auth
}

# A credential file that only the base config names has to keep the same rules. (The tool is asked only when need be.)
flexnode_config_check_rendered() { # FILE
  case $(cat <"$1" 8>&- 9>&-) in
    *'"clientSecretFile"'*) flexnode_line=$(flexnode_json_get "$1" azure.servicePrincipal.clientSecretFile) ;;
    *) flexnode_line= ;;
  esac
  [ -z "$flexnode_line" ] || flexnode_config_check_file "$flexnode_line" ''
}

# VERB PATH VALUE; nothing when the value is empty. A here-document, since the value may be secret and a shell whose
# printf is a program would show it in the list of processes.
flexnode_config_value() {
  [ -z "$3" ] || flexnode_json_op "$1" "$2" <<FLEXNODE_VALUE
$3
FLEXNODE_VALUE
}

flexnode_config_override() { # JSON
  FLEXNODE_OVERRIDE=$((FLEXNODE_OVERRIDE + 1))
  flexnode_override_name="--config-overrides number $((FLEXNODE_OVERRIDE - FLEXNODE_TWIN_OVERRIDES))"
  [ "$FLEXNODE_OVERRIDE" -gt "$FLEXNODE_TWIN_OVERRIDES" ] || flexnode_override_name=AKS_FLEX_NODE_CONFIG_OVERRIDES
  flexnode_json_op merge "$flexnode_override_name" <<FLEXNODE_VALUE
$1
FLEXNODE_VALUE
}

# Before the overrides, for whoever reads the target while fetching, and after them: they must not retarget the node.
flexnode_config_target() {
  flexnode_config_value string azure.targetCluster.resourceId "$FLEXNODE_OPT_CLUSTER_RESOURCE_ID"
  flexnode_config_value string azure.targetAgentPoolName "$FLEXNODE_OPT_AGENT_POOL_NAME"
  flexnode_config_value string azure.resourceManagerEndpoint "$FLEXNODE_OPT_RESOURCE_MANAGER_ENDPOINT"
}

# Offline artifacts bring their own versions, so none may be asked for.
flexnode_config_source() {
  flexnode_config_value string bootstrap.ociImage "$FLEXNODE_OPT_BOOTSTRAP_OCI_IMAGE"
  [ -n "$FLEXNODE_OPT_BOOTSTRAP_OFFLINE_ARTIFACTS_SOURCE" ] || return 0
  flexnode_config_value string bootstrap.offlineArtifacts.source "$FLEXNODE_OPT_BOOTSTRAP_OFFLINE_ARTIFACTS_SOURCE"
  for flexnode_key in components.containerd components.runc networking.cniVersion; do
    flexnode_json_op delete "$flexnode_key" </dev/null
  done
}

flexnode_config_auth() {
  case $FLEXNODE_AUTH in
    arc)
      flexnode_json_op delete azure.managedIdentity </dev/null
      flexnode_json_op delete azure.servicePrincipal </dev/null
      flexnode_json_op true azure.arc.enabled </dev/null
      ;;
    msi)
      flexnode_json_op delete azure.servicePrincipal </dev/null
      flexnode_json_op false azure.arc.enabled </dev/null
      flexnode_json_op ensure azure.managedIdentity </dev/null
      flexnode_config_value string azure.managedIdentity.clientId "$FLEXNODE_OPT_MSI_CLIENT_ID"
      ;;
    sp)
      flexnode_json_op delete azure.managedIdentity </dev/null
      flexnode_json_op false azure.arc.enabled </dev/null
      flexnode_config_service_principal azure.servicePrincipal
      ;;
  esac
}

flexnode_config_service_principal() { # PATH
  flexnode_json_op ensure "$1" </dev/null
  flexnode_config_value string "$1.tenantId" "$FLEXNODE_OPT_SP_TENANT_ID"
  flexnode_config_value inherit "$1.tenantId" azure.tenantId
  flexnode_config_value string "$1.clientId" "$FLEXNODE_OPT_SP_CLIENT_ID"
  if [ -n "$FLEXNODE_SECRET$FLEXNODE_CREDENTIAL_FILE" ]; then
    flexnode_json_op delete "$1.clientSecret" </dev/null
    flexnode_json_op delete "$1.clientSecretFile" </dev/null
  fi
  # One newline at its end is from the editor or the echo that made it.
  flexnode_config_value string "$1.clientSecret" "${FLEXNODE_SECRET%"$FLEXNODE_NEWLINE"}"
  flexnode_config_value string "$1.clientSecretFile" "$FLEXNODE_CREDENTIAL_FILE"
  flexnode_config_value require "$1.tenantId" "authentication by service principal needs --sp-tenant-id"
  flexnode_config_value require "$1.clientId" "authentication by service principal needs --sp-client-id"
  flexnode_config_value require "$1.clientSecret,$1.clientSecretFile" \
    "authentication by service principal needs a secret, a secret file or a certificate"
}
