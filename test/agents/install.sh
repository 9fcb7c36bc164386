#!/bin/sh
# Installs the agent CLIs at the versions of package-lock.json, into node_modules beside this file, unless they are
# there. Not `npm ci`: it refuses the lock where a registry lacks the packages of some other platform.
set -eu
cd "$(dirname "$0")"
npm ls >/dev/null 2>&1 || npm install --no-save --include=optional --no-audit --no-fund --loglevel=error
