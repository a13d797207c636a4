#!/bin/sh
# Imports this machine's package index into a new database and answers a tour of queries.
#
#   sh tools/tour.sh [FENEC [FOLDER]]
#
# FENEC is the command (.build/release/fenec), FOLDER where packages.fenec goes (build). Where there is no
# apt, or its index is empty, a generated set of the same form takes its place.
set -eu

fenec=${1:-.build/release/fenec}
folder=${2:-build}
here=$(dirname "$0")
database=$folder/packages.fenec
records=$folder/packages.jsonl

# Stanzas of "Key: value" lines, one empty line between two, as JSON lines. A line that begins with a space
# goes on with the value before it; the tour needs none of those.
stanzas_to_json='
function quoted(text) {
    gsub(/\\/, "\\\\", text); gsub(/"/, "\\\"", text); gsub(/\t/, "\\t", text); gsub(/[\001-\037]/, "", text)
    return "\"" text "\""
}
function text(key) { return key in value ? quoted(value[key]) : "null" }
function number(key, times) { return value[key] ~ /^[0-9]+$/ ? sprintf("%.0f", value[key] * times) : "null" }
function flush() {
    if ("Package" in value)
        printf "{\"name\":%s,\"section\":%s,\"version\":%s,\"architecture\":%s,\"installed_size\":%s,\"size\":%s,\"priority\":%s,\"description\":%s,\"source\":{\"homepage\":%s,\"package\":%s}}\n",
            text("Package"), text("Section"), text("Version"), text("Architecture"), number("Installed-Size", 1024),
            number("Size", 1), text("Priority"), text("Description"), text("Homepage"), text("Source")
    split("", value)
}
/^$/ { flush(); next }
/^[^ \t]/ { colon = index($0, ":"); value[substr($0, 1, colon - 1)] = substr($0, colon + 2) }
END { flush() }'

# The same form from a fixed seed: a minimal generator of its own, since every awk has another rand().
generated='
function next_random(below) { seed = (seed * 1103 + 12345) % 1000003; return seed % below }
function pick(list) { return list[1 + next_random(list[0])] }
function listed(text, list,    count) { count = split(text, list, " "); list[0] = count }
BEGIN {
    seed = 20240229
    listed("admin comm devel doc editors games graphics kernel libs mail math net python science sound text utils web", sections)
    listed("fast small portable simple complete modern classic parallel embedded secure interactive scriptable", kinds)
    listed("editor compiler library server client parser viewer player converter database debugger game", things)
    listed("amd64 all", architectures)
    listed("optional optional optional standard important required", priorities)
    for (n = 1; n <= 40000; n++) {
        kind = pick(kinds); thing = pick(things); section = pick(sections)
        size = 1 + next_random(1000) * next_random(1000) * (1 + next_random(40))
        name = n == 1 ? "bash" : kind "-" thing "-" n
        printf "{\"name\":\"%s\",\"section\":\"%s\",\"version\":\"%d.%d-%d\",\"architecture\":\"%s\",\"installed_size\":%.0f,\"size\":%.0f,\"priority\":\"%s\",\"description\":\"%s %s for %s\",\"source\":{\"homepage\":\"https://%s.example.org/\",\"package\":%s}}\n",
            name, section, next_random(9), next_random(30), 1 + next_random(5), pick(architectures),
            size * 3, size, pick(priorities), kind, thing, section, thing, next_random(3) ? "null" : "\"" thing "\""
    }
}'

mkdir -p "$folder"
rm -f "$database" "$database-wal" "$database.lock"

if command -v apt-cache >/dev/null 2>&1; then
    # In the C locale awk takes bytes as they are.
    apt-cache dumpavail 2>/dev/null | LC_ALL=C awk "$stanzas_to_json" >"$records" || true
else
    : >"$records"
fi
if [ ! -s "$records" ]; then
    echo "No package index on this machine: a generated one takes its place."
    LC_ALL=C awk "$generated" >"$records"
fi

echo "Importing $(wc -l <"$records") packages into $database"
"$fenec" import "$database" packages "$records" 2>&1
echo "The file has $(wc -c <"$database") bytes."
echo

# One process answers the whole tour; each time is that of the text above it, first runs being cold.
"$fenec" --table --echo --time "$database" <"$here/tour.fql" 2>&1
