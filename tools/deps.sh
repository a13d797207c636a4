#!/bin/sh
# Installs what the build and the tests need and is not there: Debian's packages as root, else named.
# `deps.sh PACKAGE...`: of those that only some benchmarks need, and nothing else.
set -eu
packages="$*"
[ -n "$packages" ] || packages="gcc make pkg-config python3 libsqlite3-dev libcjson-dev libicu-dev"
missing=""
for package in $packages; do
    case $package in
    gcc | g++ | make | python3) command -v "$package" >/dev/null 2>&1 && continue ;;
    pkg-config) command -v pkg-config >/dev/null 2>&1 && continue ;;
    libsqlite3-dev) [ -e /usr/include/sqlite3.h ] && continue ;;
    libcjson-dev) [ -e /usr/include/cjson/cJSON.h ] && continue ;;
    libhnswlib-dev) [ -e /usr/include/hnswlib/hnswlib.h ] && continue ;;
    libicu-dev) [ -e /usr/include/unicode/ucol.h ] && continue ;;
    esac
    missing="$missing $package"
done
if [ -n "$missing" ]; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        echo "installing:$missing"
        apt-get update -qq
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
    else
        echo "missing:$missing" >&2
        echo "install them (as root: apt-get install$missing) and run make again" >&2
        exit 1
    fi
fi
[ $# = 0 ] || exit 0
if ! command -v swift >/dev/null 2>&1; then
    echo "missing: swift 5.9 or newer on PATH (https://www.swift.org/install)" >&2
    exit 1
fi
