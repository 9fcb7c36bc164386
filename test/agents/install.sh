#!/bin/sh
# Installs the agent CLIs at the versions of package-lock.json, into node_modules beside this file, unless they are there.
set -eu
cd "$(dirname "$0")"
npm ls >/dev/null 2>&1 || npm ci --include=optional --no-audit --no-fund
