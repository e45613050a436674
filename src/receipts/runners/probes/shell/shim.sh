#!/bin/sh
# Stands in PATH before the program of its name and starts that watched, also where a command sets NODE_OPTIONS or PYTHONPATH itself.
home='@HOME@' name=${0##*/}
path='' program='' old_ifs=$IFS
IFS=:
set -f
for folder in $PATH; do
  [ -f "$folder/../probes/shell/shim.sh" ] && continue
  path=$path${path:+:}$folder
  [ -z "$program" ] && [ -f "$folder/$name" ] && [ -x "$folder/$name" ] && program=$folder/$name
done
set +f
IFS=$old_ifs
[ -n "$program" ] || { echo "$name: not found" >&2; exit 127; }
{ read -r preload; read -r reporter; read -r node; } <"$home/settings"
case $name in
  node)
    case " ${NODE_OPTIONS-}" in
      *" $preload"*) ;;
      *) NODE_OPTIONS="$preload${NODE_OPTIONS:+ $NODE_OPTIONS}" ;;
    esac
    # For a test file that is run as a program. More reporters than destinations would be an error.
    case "$NODE_OPTIONS $*" in
      *--test*) ;;
      *) NODE_OPTIONS="$NODE_OPTIONS $reporter" ;;
    esac
    export NODE_OPTIONS ;;
  go)
    case ${1-} in
      test | -C*) [ -x "$node" ] && exec "$node" "$home/probes/node/go.cjs" "$program" "$@" ;;
    esac ;;
  *)
    case ":${PYTHONPATH-}" in
      ":$home/"*) ;;
      *) export PYTHONPATH="$home/probes/python${PYTHONPATH:+:$PYTHONPATH}" ;;
    esac ;;
esac
exec "$program" "$@"
