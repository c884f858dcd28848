using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics.X86;

namespace Net.Zlink.Buffers;

/// <summary>Asks the processor to fetch memory that will be needed in a microsecond, while it does something else: with many connections none of it is in a cache, and each first look costs 0.1 to 0.2 us otherwise.</summary>
/// <remarks>A hint: it changes nothing, may be ignored, and an address that the collector has moved meanwhile, or that lies behind its array, is merely a wasted fetch. Elsewhere than on x86 it does nothing.</remarks>
internal static class CacheLines
{
    // Most objects of a connection have 64 to 128 bytes, and are not aligned to a line: two lines each.
    private const int Line = 64;

    // Behind an array's type and length.
    private static readonly int FirstElement = OffsetOf(Array.Empty<byte>(), ref MemoryMarshal.GetArrayDataReference(Array.Empty<byte>()));

    // Short messages fill a line each. Four of them are 0.3 us of a thread that sends to one peer only, longer than memory takes; farther ahead, a thousand peers' lines would leave the cache again before they are written.
    private const int Ahead = 4 * Line;

    /// <summary>The first two lines of an object.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void Fetch(object? what) => Fetch(what, 0);

    /// <summary>Two lines of an object, from an offset on: see <see cref="OffsetOf"/>.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static unsafe void Fetch(object? what, int offset) => FetchAt((byte*)Unsafe.As<object?, nint>(ref what) + offset);

    /// <summary>Where in an object a field of it lies.</summary>
    public static int OffsetOf<T>(object what, ref T field)
    {
        // Seen as a box, any object's first field is the box's value; in front of that its type stands.
        ref byte first = ref Unsafe.As<StrongBox<byte>>(what).Value;
        return nint.Size + (int)Unsafe.ByteOffset(ref first, ref Unsafe.As<T, byte>(ref field));
    }

    /// <summary>The first two lines of each.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void Fetch(object? one, object? two, object? three)
    {
        Fetch(one);
        Fetch(two);
        Fetch(three);
    }

    /// <summary>The first four lines of an object.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void FetchLarge(object? what)
    {
        Fetch(what);
        Fetch(what, 2 * Line);
    }

    /// <summary>Where an element is, or would be. Nothing of the array is looked at, its length neither: that would be the wait for memory which this is to spare.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static unsafe void FetchElement<T>(T[]? array, int index) => FetchAt((byte*)Unsafe.As<T[]?, nint>(ref array) + FirstElement + ((nint)index * Unsafe.SizeOf<T>()));

    /// <summary>What a writer that goes on behind <paramref name="written"/> bytes will come to soon.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static unsafe void FetchAhead(Span<byte> space, int written) => FetchAt((byte*)Unsafe.AsPointer(ref MemoryMarshal.GetReference(space)) + written + Ahead);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static unsafe void FetchAt(byte* address)
    {
        if (Sse.IsSupported)
        {
            Sse.Prefetch0(address);
            Sse.Prefetch0(address + Line);
        }
    }
}
