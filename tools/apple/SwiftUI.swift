// A stand-in for Apple's SwiftUI: the declarations the examples use and no behaviour; see Combine.swift.
@_exported import Combine
@_exported import Foundation

@MainActor @preconcurrency public protocol View {
    associatedtype Body: View
    @ViewBuilder var body: Body { get }
}
extension Never: View { public var body: Never { return fatalError() } }
public protocol Leaf: View where Body == Never {}
extension Optional: View where Wrapped: View { public var body: Never { return fatalError() } }
extension Leaf { public var body: Never { return fatalError() } }

@resultBuilder public enum ViewBuilder {
    public static func buildBlock<each Content: View>(_ content: repeat each Content) -> Tuple { Tuple() }
    public static func buildExpression<Content: View>(_ content: Content) -> Content { content }
    public static func buildIf<Content: View>(_ content: Content?) -> Content? { content }
    public static func buildEither<Content: View>(first: Content) -> Tuple { Tuple() }
    public static func buildEither<Content: View>(second: Content) -> Tuple { Tuple() }
}
public struct Tuple: Leaf { public init() {} }

@MainActor @preconcurrency public protocol Scene {
    associatedtype Body: Scene
    @SceneBuilder var body: Body { get }
}
extension Never: Scene {}
@resultBuilder public enum SceneBuilder {
    public static func buildBlock<Content: Scene>(_ content: Content) -> Content { content }
}
extension Scene {
    public func onChange<V: Equatable>(of value: V, perform: @escaping @MainActor (V) -> Void) -> some Scene { self }
}
@MainActor @preconcurrency public protocol App {
    associatedtype Body: Scene
    @SceneBuilder var body: Body { get }
    init()
}
extension App { public static func main() {} }
public struct WindowGroup<Content: View>: Scene {
    public init(@ViewBuilder content: () -> Content) {}
    public var body: Never { return fatalError() }
}

@propertyWrapper public struct State<Value> {
    public var wrappedValue: Value {
        get { fatalError() }
        nonmutating set { fatalError() }
    }
    public var projectedValue: Binding<Value> { fatalError() }
    public init(wrappedValue: Value) {}
    public init(initialValue: Value) {}
}
@propertyWrapper @MainActor @preconcurrency public struct StateObject<Object: ObservableObject> {
    public var wrappedValue: Object { fatalError() }
    public nonisolated init(wrappedValue: @autoclosure @escaping () -> Object) {}
}
@propertyWrapper public struct Environment<Value> {
    public var wrappedValue: Value { fatalError() }
    public init(_ keyPath: KeyPath<EnvironmentValues, Value>) {}
}
public struct Binding<Value> {}
public struct EnvironmentValues {
    public var scenePhase: ScenePhase { .active }
    public var dismiss: DismissAction { DismissAction() }
}
public enum ScenePhase: Sendable { case background, inactive, active }
@MainActor @preconcurrency public struct DismissAction {
    nonisolated init() {}
    public func callAsFunction() {}
}

public enum Alignment { case leading }
public enum Font { case headline }
public enum Color { case red }

public struct Text: Leaf {
    public nonisolated init(_ text: String) {}
    public nonisolated func bold() -> Text { self }
    public nonisolated func font(_ font: Font?) -> Text { self }
    public nonisolated func foregroundColor(_ color: Color?) -> Text { self }
    public nonisolated static func + (left: Text, right: Text) -> Text { left }
}
public struct VStack<Content: View>: Leaf {
    public init(alignment: Alignment, @ViewBuilder content: () -> Content) {}
}
public struct List<Content: View>: Leaf {
    public init(@ViewBuilder content: () -> Content) {}
    public init<Data: RandomAccessCollection, ID: Hashable, Row: View>(
        _ data: Data, id: KeyPath<Data.Element, ID>, @ViewBuilder rowContent: @escaping (Data.Element) -> Row
    ) where Content == ForEach<Data, Row> {}
}
public struct ForEach<Data: RandomAccessCollection, Content: View>: Leaf {
    public init(_ data: Data, @ViewBuilder content: @escaping (Data.Element) -> Content)
    where Data.Element: Identifiable {}
    public func onDelete(perform: ((IndexSet) -> Void)?) -> ForEach { self }
}
public struct Form<Content: View>: Leaf { public init(@ViewBuilder content: () -> Content) {} }
public struct NavigationView<Content: View>: Leaf { public init(@ViewBuilder content: () -> Content) {} }
public struct Button: Leaf { public init(_ title: String, action: @escaping @MainActor () -> Void) {} }
public struct TextField: Leaf { public init(_ title: String, text: Binding<String>) {} }
public struct TextEditor: Leaf { public init(text: Binding<String>) {} }

extension View {
    public func navigationTitle(_ title: String) -> some View { self }
    public func searchable(text: Binding<String>) -> some View { self }
    public func task<ID: Equatable>(id: ID, _ action: @escaping @MainActor @Sendable () async -> Void) -> some View { self }
    public func toolbar<Content: View>(@ViewBuilder content: () -> Content) -> some View { self }
    public func sheet<Content: View>(
        isPresented: Binding<Bool>, @ViewBuilder content: @escaping () -> Content
    ) -> some View { self }
    public func swipeActions<Content: View>(@ViewBuilder content: () -> Content) -> some View { self }
    public func disabled(_ disabled: Bool) -> some View { self }
    public func lineLimit(_ number: Int?) -> some View { self }
}
