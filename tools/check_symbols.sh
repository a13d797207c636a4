#!/bin/sh
# header library archive: what the header declares is exactly what the library exports.
set -eu
header=$1 library=$2 archive=$3
declared=$(sed -n 's/.*[ *]\(fenec_[a-z_]*\)(.*/\1/p' "$header" | grep -v '^$' | sort -u)
exported=$(nm -D --defined-only "$library" | awk '$2 != "A" {print $3}' | sort -u)
linked=$(nm -g --defined-only "$archive" | awk 'NF == 3 {print $3}' | sort -u)
status=0
for pair in "library:$exported" "archive:$linked"; do
    what=${pair%%:*}
    if [ "$declared" != "${pair#*:}" ]; then
        echo "the $what exports other symbols than $header declares:" >&2
        printf '%s\n' "$declared" >/tmp/fenec-declared.$$
        printf '%s\n' "${pair#*:}" | diff /tmp/fenec-declared.$$ - >&2 || true
        rm -f /tmp/fenec-declared.$$
        status=1
    fi
done
[ $status = 0 ] && echo "symbols: $(printf '%s\n' "$declared" | wc -l) declared, the same exported"
exit $status
