using System.Buffers;
using System.Runtime.InteropServices;

namespace Net.Zlink.Buffers;

/// <summary>
/// Pins foreign memory during one pending operation. The runtime reads a pending send's span repeatedly, on a thread where an exception
/// ends the process: memory that was disposed too early did that. Pinned memory that is disposed stays valid until the operation ends, in
/// our pool (<see cref="BufferOwner"/>) as in every manager that counts pins.
/// </summary>
internal sealed class PinnedMemory : MemoryManager<byte>
{
    private MemoryHandle _pin;
    private int _length;

    public static bool IsNeededFor(ReadOnlyMemory<byte> bytes) =>
        MemoryMarshal.TryGetMemoryManager<byte, MemoryManager<byte>>(bytes, out _);

    /// <summary>Throws the manager's exceptions.</summary>
    public unsafe ReadOnlyMemory<byte> Acquire(ReadOnlyMemory<byte> bytes)
    {
        try
        {
            _pin = bytes.Pin();
        }
        catch (Exception)
        {
            // The manager may be unable to pin. If it is disposed, the copy throws.
        }

        if (_pin.Pointer == null)
        {
            Release();
            return bytes.ToArray();
        }

        _length = bytes.Length;
        return Memory;
    }

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
            // As in DeferredDisposal.Dispose: application code.
        }
    }

    public override unsafe Span<byte> GetSpan() => new(_pin.Pointer, _length);

    public override unsafe MemoryHandle Pin(int elementIndex = 0) => new((byte*)_pin.Pointer + elementIndex);

    public override void Unpin()
    {
        // This object has one pin of its own.
    }

    protected override void Dispose(bool disposing) => Release();
}
