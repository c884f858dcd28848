using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics.X86;

namespace Net.Zlink.Buffers;

/// <summary>
/// Prefetches memory that is needed a microsecond later: with many connections nothing is cached, and each first access costs 0.1 to 0.2
/// us.
/// </summary>
internal static class CacheLines
{
    // A connection's objects take 64 to 128 bytes, not aligned to lines: two lines each.
    private const int Line = 64;

    // After an array's type and length.
    private static readonly int FirstElement = OffsetOf(Array.Empty<byte>(), ref MemoryMarshal.GetArrayDataReference(Array.Empty<byte>()));

    // Short messages fill a line each. Four take 0.3 us for one peer, longer than memory does. Further ahead, a thousand peers' lines would
    // be evicted before use.
    private const int Ahead = 4 * Line;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static unsafe void Fetch(object? what, int offset = 0) => FetchAt((byte*)Unsafe.As<object?, nint>(ref what) + offset);

    public static int OffsetOf<T>(object what, ref T field)
    {
        ref byte first = ref Unsafe.As<StrongBox<byte>>(what).Value;
        return nint.Size + (int)Unsafe.ByteOffset(ref first, ref Unsafe.As<T, byte>(ref field));
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void FetchLarge(object? what)
    {
        Fetch(what);
        Fetch(what, 2 * Line);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static unsafe void FetchElement<T>(T[]? array, int index) =>
        FetchAt((byte*)Unsafe.As<T[]?, nint>(ref array) + FirstElement + ((nint)index * Unsafe.SizeOf<T>()));

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static unsafe void FetchAhead(Span<byte> space, int written) =>
        FetchAt((byte*)Unsafe.AsPointer(ref MemoryMarshal.GetReference(space)) + written + Ahead);

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
