using System.Buffers;
using Net.Zlink.Buffers;

namespace Net.Zlink;

/// <summary>The copy of a payload that waits: a span cannot be kept during a wait.</summary>
internal static class WaitingPayload
{
    public static IMemoryOwner<byte> Of(ReadOnlySpan<byte> payload, BufferPool pool)
    {
        try
        {
            IMemoryOwner<byte> copy = pool.Rent(Math.Max(1, payload.Length));
            payload.CopyTo(copy.Memory.Span);
            return copy;
        }
        catch (OutOfMemoryException)
        {
            throw ZlinkException.NoMemory();
        }
    }
}
