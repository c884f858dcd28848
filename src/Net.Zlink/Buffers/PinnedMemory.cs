using System.Buffers;
using System.Runtime.InteropServices;

namespace Net.Zlink.Buffers;

/// <summary>Memory of somebody else's while an operation that is pending reads it. Its manager is asked for the bytes when that begins, and for nothing until it has ended. One at a time, used again and again; not thread-safe.</summary>
/// <remarks>
/// The runtime asks the memory of a pending send for its span again and again, on a thread of its own where whatever is thrown ends the process: memory that its former owner disposed too early did that. And what is disposed while it is
/// pinned stays where it is until the end of the operation, of our own pool (<see cref="BufferOwner"/>) as of every manager that counts its pins: nobody else's bytes are sent in its place.
/// </remarks>
internal sealed class PinnedMemory : MemoryManager<byte>
{
    private MemoryHandle _pin;
    private int _length;

    /// <summary>Whether bytes have a manager that would be asked for them. Others are an array's, which can be handed to any operation as they are.</summary>
    public static bool IsNeededFor(ReadOnlyMemory<byte> bytes) => MemoryMarshal.TryGetMemoryManager<byte, MemoryManager<byte>>(bytes, out _);

    /// <summary>The same bytes, which nobody is asked for any more; of a manager that cannot pin them, a copy. Until <see cref="Release"/>. Throws what the manager throws.</summary>
    public unsafe ReadOnlyMemory<byte> Acquire(ReadOnlyMemory<byte> bytes)
    {
        try
        {
            _pin = bytes.Pin();
        }
        catch (Exception)
        {
            // It need not be able to: as long as the system has room, nobody asks it. Or it is disposed, which the copy then says.
        }

        if (_pin.Pointer == null)
        {
            Release();
            return bytes.ToArray();
        }

        _length = bytes.Length;
        return Memory;
    }

    /// <summary>The operation is over. Idempotent.</summary>
    public void Release()
    {
        MemoryHandle pin = _pin;
        _pin = default;
        _length = 0;
        try
        {
            pin.Dispose();
        }
        catch (Exception)
        {
            // As in HandedOver.Dispose: the application's code.
        }
    }

    /// <inheritdoc/>
    public override unsafe Span<byte> GetSpan() => new(_pin.Pointer, _length);

    /// <inheritdoc/>
    public override unsafe MemoryHandle Pin(int elementIndex = 0) => new((byte*)_pin.Pointer + elementIndex);

    /// <inheritdoc/>
    public override void Unpin()
    {
        // The handles of Pin say nothing: what it is about stays pinned by one of its own.
    }

    /// <inheritdoc/>
    protected override void Dispose(bool disposing) => Release();
}
