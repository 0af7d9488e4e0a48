#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Serves an array that is listed in /etc/calpe/arrays.conf. Finds its members by their superblocks.
# Usage: calpe-array-start NAME
# Each line of the file is: NAME UUID [scan=DIRECTORY]... [PARAMETER of the plugin]...
# Waits up to 30 s (CALPE_WAIT_SECONDS) for members that are missing, then starts without them.
set -eu
name=${1:?usage: calpe-array-start NAME}
config=${CALPE_ARRAYS_CONF:-/etc/calpe/arrays.conf}
sockets=${RUNTIME_DIRECTORY:-/run/calpe}
left=${CALPE_WAIT_SECONDS:-30}

uuid=
parameters=
while read -r listed its_uuid rest || [ -n "$listed" ]; do
  if [ "$listed" = "$name" ]; then
    uuid=$its_uuid
    parameters=$rest
  fi
done < "$config"
if [ -z "$uuid" ]; then
  echo "calpe-array-start: $name is not in $config; add a line: $name UUID" >&2
  exit 1
fi

set -f # words of the line are not patterns
set --
plain=
for word in $parameters; do
  case $word in
    scan=*) set -- "$@" "${word#scan=}" ;;
    *) plain="$plain $word" ;;
  esac
done

# Disks may appear late. The exit code is 0 if every member is found, and 1 if some are.
code=0
paths=$(calpe array scan "$@" --uuid "$uuid" --paths 2> /dev/null) || code=$?
while [ "$code" -ne 0 ] && [ "$left" -gt 0 ]; do
  left=$((left - 1))
  sleep 1
  code=0
  paths=$(calpe array scan "$@" --uuid "$uuid" --paths 2> /dev/null) || code=$?
done
if [ "$code" -gt 1 ]; then
  echo "calpe-array-start: no member of array $uuid ($name) is found" >&2
  exit 1
fi

set --
IFS='
'
for path in $paths; do
  set -- "$@" "member=$path"
done
IFS=' '
for word in $plain; do
  set -- "$@" "$word"
done
exec nbdkit --foreground --unix "$sockets/$name.nbd" "${CALPE_NBDKIT_PLUGIN:-calpe}" "$@" \
  "control=$sockets/$name.ctl"
