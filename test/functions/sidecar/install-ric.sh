#!/bin/sh
# Installs Lambda's Runtime Interface Client for ric.slow.test.ts. This takes about two minutes, because it compiles
# libcurl. It is not in package.json because only this client needs a C++ toolchain.
set -eu

root=$(cd "$(dirname "$0")/../../.." && pwd)
place="${1:-$root/node_modules/.cache/asya-ric}"

missing=''
for tool in autoreconf:autoconf automake:automake libtoolize:libtool cmake:cmake g++:g++ make:make; do
  command -v "${tool%%:*}" >/dev/null 2>&1 || missing="$missing ${tool##*:}"
done
[ -e /usr/include/curl/curl.h ] || ls /usr/include/*/curl/curl.h >/dev/null 2>&1 || missing="$missing libcurl4-openssl-dev"

if [ -n "$missing" ]; then
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
    echo "install-ric: missing packages; as root on Debian, run: apt-get install$missing" >&2
    exit 1
  fi
  apt-get update -qq
  # shellcheck disable=SC2086 # several packages
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing
fi

mkdir -p "$place"
# With its own package.json, npm does not use the project's.
printf '{"private":true,"allowScripts":{"aws-lambda-ric":true}}\n' >"$place/package.json"
npm install --prefix "$place" --no-audit --no-fund aws-lambda-ric@4.0.2
echo "install-ric: installed aws-lambda-ric in $place"
