#!/bin/sh
# Type-checks the package in the language modes of Swift 5 and 6, without warnings, and what is written for
# Apple platforms too, against stand-ins for Combine and SwiftUI where these are missing.
set -eu
cd "$(dirname "$0")/.."
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
library="-parse-as-library -package-name fenecdb -I Sources/CFenec -Xcc -I."
strict="-warnings-as-errors -strict-concurrency=complete"

for module in Combine SwiftUI; do
    echo "import $module" | swiftc -typecheck - 2>/dev/null && continue
    swiftc -emit-module -parse-as-library -suppress-warnings -I "$out" -module-name $module \
        -emit-module-path "$out/$module.swiftmodule" tools/apple/$module.swift
done
cat > "$out/resources.swift" <<'SWIFT'
import Foundation
extension Bundle { static var module: Bundle { main } }
SWIFT
for mode in 5 6; do
    swiftc -emit-module $library $strict -swift-version $mode -I "$out" -module-name FenecDB \
        -emit-module-path "$out/FenecDB.swiftmodule" Sources/Fenec/Library/*.swift
    swiftc -emit-module $library $strict -swift-version $mode -I "$out" -module-name NotesKit \
        -emit-module-path "$out/NotesKit.swiftmodule" Examples/Notes/NotesKit/*.swift "$out/resources.swift"
    swiftc -typecheck $library $strict -swift-version $mode -I "$out" -module-name NotesApp \
        Examples/Notes/App/*.swift
    swiftc -typecheck $library $strict -swift-version $mode -I "$out" -module-name Samples \
        Tests/FenecTests/SamplesOfViews.swift
    swiftc -typecheck -I "$out" -I Sources/CFenec -Xcc -I. $strict -swift-version $mode Examples/Todos/main.swift
done
echo "Swift 5 and 6: no warnings"
