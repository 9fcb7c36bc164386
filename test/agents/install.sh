#!/bin/sh
# Installs the agent CLIs at the versions of package-lock.json, into node_modules beside this file.
# Not `npm ci`: it refuses the lock where a registry lacks the packages of some other platform.
set -eu
cd "$(dirname "$0")"
exec npm install --no-save --include=optional --no-audit --no-fund --loglevel=error
