// A list of things to do, in one file: swift run todos FILE [add TITLE | done ID | drop ID | watch]
// Without a command it shows what is open; `watch` adds every line it reads and shows the list as it changes.
import FenecDB

struct Todo: Codable, Sendable, FenecValue {
    var id: Int?
    var title: String
    var done = false
}

struct Usage: Error {}

func show(_ todos: [Todo]) {
    if todos.isEmpty { print("nothing to do") }
    for todo in todos { print("\(todo.id ?? 0)  \(todo.title)") }
}

/// Adds what is typed; meanwhile the list shows itself after every change.
func watch(_ db: Fenec) async throws {
    let todos = try db.from("todo")
    var open = db.live(try todos.where("done", false).order("id"), as: Todo.self).makeAsyncIterator()
    try await open.next().map(show)
    while let title = readLine() {
        try await todos.insert(Todo(title: title))
        try await open.next().map(show)
    }
}

func run(_ db: Fenec, _ command: ArraySlice<String>) async throws {
    try await db.execute("create collection if not exists todo (title text required, done bool @hash)")
    let todos = try db.from("todo")
    switch (command.first, command.dropFirst().first) {
    case (nil, nil):
        show(try await todos.where("done", false).order("id").rows(as: Todo.self))
    case ("add", _?):
        try await todos.insert(Todo(title: command.dropFirst().joined(separator: " ")))
    case ("done", let id?):
        try await todos.where("id", Int(id)).update(["done": true], require: 1)
    case ("drop", let id?):
        try await todos.where("id", Int(id)).delete(require: 1)
    case ("watch", nil):
        try await watch(db)
    default:
        throw Usage()
    }
}

do {
    guard CommandLine.arguments.count > 1 else { throw Usage() }
    let db = try await Fenec.open(path: CommandLine.arguments[1])
    try await run(db, CommandLine.arguments.dropFirst(2))
    try await db.close()
} catch is Usage {
    print("todos FILE [add TITLE | done ID | drop ID | watch]")
} catch {
    print("todos: \(error)")
}
