namespace Net.Zlink.Buffers;

/// <summary>
/// An array element with a reference. A store into T[] of a reference type checks the array's real type (covariance); a store into this
/// struct's array does not.
/// </summary>
internal struct Slot<T>
    where T : class
{
    internal T? Item;
}
