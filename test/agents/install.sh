#!/bin/sh
# Installs the agent CLIs at the versions of package-lock.json, into node_modules beside this file.
set -eu
cd "$(dirname "$0")"
exec npm ci --include=optional --no-audit --no-fund
