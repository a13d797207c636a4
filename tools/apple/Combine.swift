// A stand-in for Apple's Combine: the declarations this package uses and no behaviour, so that what is
// written for Apple platforms is type-checked on every machine (tools/check_swift.sh).
public protocol ObservableObject: AnyObject {}

@propertyWrapper public struct Published<Value> {
    public var wrappedValue: Value
    public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
}
