// swift-tools-version: 5.9
import PackageDescription

let linux: BuildSettingCondition = .when(platforms: [.linux])
let apple: BuildSettingCondition = .when(platforms: [.macOS, .iOS, .tvOS, .watchOS, .visionOS, .macCatalyst])

let package = Package(
    name: "FenecDB",
    platforms: [.macOS(.v12), .iOS(.v15)],
    products: [
        .library(name: "FenecDB", targets: ["FenecDB"]),
        .executable(name: "fenec", targets: ["fenec"]),
    ],
    targets: [
        // The engine, compiled from csrc/; its module map exposes include/fenec.h and nothing else.
        .target(
            name: "CFenec",
            path: ".",
            sources: ["csrc"],
            publicHeadersPath: "Sources/CFenec",
            cSettings: [
                .headerSearchPath("csrc"),
                .headerSearchPath("include"),
                .define("_GNU_SOURCE", linux),
                .define("FENEC_ICU", to: "1"),
            ],
            linkerSettings: [
                .linkedLibrary("sqlite3"),
                .linkedLibrary("cjson"),
                .linkedLibrary("icuuc", linux),
                .linkedLibrary("icui18n", linux),
                .linkedLibrary("m", linux),
                .linkedLibrary("icucore", apple),
            ]
        ),
        // Sources/Fenec and Sources/fenec are one folder where file names ignore case (macOS), so each
        // target names the folder inside that is its own.
        .target(
            name: "FenecDB",
            dependencies: ["CFenec"],
            path: "Sources/Fenec",
            sources: ["Library"]
        ),
        .executableTarget(
            name: "fenec",
            dependencies: ["FenecDB"],
            path: "Sources/fenec",
            sources: ["Command"]
        ),
        // Builder cases from a file: what every binding's builder has to make of a chain.
        .executableTarget(
            name: "fenec-builder-test",
            dependencies: ["FenecDB"],
            path: "Sources/fenec-builder-test"
        ),
        .executableTarget(
            name: "fenec-swift-bench", dependencies: ["CFenec", "FenecDB"], path: "bench/swift"),
        // Examples: whole small apps. `swift run todos FILE`, `swift run notes FILE`.
        .executableTarget(name: "todos", dependencies: ["FenecDB"], path: "Examples/Todos"),
        .target(
            name: "NotesKit",
            dependencies: ["FenecDB"],
            path: "Examples/Notes/NotesKit",
            resources: [.copy("schema.fenecql")]
        ),
        .executableTarget(
            name: "notes", dependencies: ["FenecDB", "NotesKit"], path: "Examples/Notes/Command"),
        .executableTarget(name: "NotesApp", dependencies: ["FenecDB", "NotesKit"], path: "Examples/Notes/App"),
        .testTarget(
            name: "FenecTests",
            dependencies: ["FenecDB", "fenec", "fenec-builder-test", "todos", "notes", "NotesKit", "NotesApp"],
            path: "Tests/FenecTests",
            resources: [.copy("schema.fenecql")]
        ),
    ],
    cLanguageStandard: .c11
)
