using System.Runtime.InteropServices;

namespace Net.Zlink.Porting;

internal enum NativeKind
{
    Int32,

    Int64,

    Bytes,

    /// <summary>UTF-8 text: set without a closing zero, returned with one.</summary>
    Text,
}

internal delegate void NativeBytesSetter(ZlinkSocket socket, ReadOnlySpan<byte> value);

internal sealed record NativeOption(int Number, string Name, string Property, NativeKind Kind)
{
    public required Func<ZlinkSocket, bool> Fits { get; init; }

    public Func<ZlinkSocket, long>? GetNumber { get; init; }

    public Action<ZlinkSocket, long>? SetNumber { get; init; }

    public Func<ZlinkSocket, ReadOnlyMemory<byte>>? GetBytes { get; init; }

    public NativeBytesSetter? SetBytes { get; init; }

    public long MinValue { get; init; }

    public long MaxValue { get; init; } = int.MaxValue;

    public bool IsGeneral { get; init; }

    public bool MayBeLonger { get; init; }

    public string? Gap { get; init; }

    public void Set(ZlinkSocket socket, ReadOnlySpan<byte> value)
    {
        if (SetNumber is null && SetBytes is null)
        {
            throw Invalid("can only be read");
        }

        try
        {
            if (SetNumber is not null)
            {
                SetNumber(socket, Checked(Decode(value)));
            }
            else
            {
                SetBytes!(socket, value);
            }
        }
        catch (Exception e) when (e is ArgumentException or InvalidOperationException and not ObjectDisposedException)
        {
            throw new ZlinkException(ZlinkError.InvalidArgument, $"{Name} ({Number}): {e.Message}", e);
        }
    }

    public int Get(ZlinkSocket socket, Span<byte> value)
    {
        if (GetNumber is null && GetBytes is null)
        {
            throw Invalid("can only be set");
        }

        return GetNumber is not null ? Encode(GetNumber(socket), value) : Copy(GetBytes!(socket).Span, value);
    }

    private long Decode(ReadOnlySpan<byte> value)
    {
        int size = Kind == NativeKind.Int32 ? sizeof(int) : sizeof(long);
        if (value.Length != size)
        {
            throw Invalid($"takes exactly {size} bytes, not {value.Length}");
        }

        return Kind == NativeKind.Int32 ? MemoryMarshal.Read<int>(value) : MemoryMarshal.Read<long>(value);
    }

    private long Checked(long value) =>
        Kind == NativeKind.Int64 || (value >= MinValue && value <= MaxValue) ? value
            : throw Invalid($"takes {MinValue} to {MaxValue}, not {value}");

    private int Encode(long number, Span<byte> value)
    {
        int size = Kind == NativeKind.Int32 ? sizeof(int) : sizeof(long);
        if (value.Length < size || (value.Length > size && !MayBeLonger))
        {
            throw Invalid($"has {size} bytes, and the buffer {value.Length}");
        }

        value.Clear();
        if (Kind == NativeKind.Int32)
        {
            MemoryMarshal.Write(value, (int)number);
        }
        else
        {
            MemoryMarshal.Write(value, number);
        }

        return size;
    }

    private int Copy(ReadOnlySpan<byte> bytes, Span<byte> value)
    {
        int length = bytes.Length + (Kind == NativeKind.Text ? 1 : 0);
        if (value.Length < length)
        {
            throw Invalid($"has {length} bytes now, and the buffer {value.Length}");
        }

        value.Clear();
        bytes.CopyTo(value);
        return length;
    }

    private ZlinkException Invalid(string why) => new(ZlinkError.InvalidArgument, $"{Name} ({Number}) {why}");
}
