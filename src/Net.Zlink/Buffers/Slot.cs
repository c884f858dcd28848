namespace Net.Zlink.Buffers;

/// <summary>
/// An array element that holds a reference. Storing into a T[] of a reference type makes the runtime check the array's real element type
/// (arrays are covariant); storing into an array of this struct does not.
/// </summary>
internal struct Slot<T>
    where T : class
{
    internal T? Item;
}
