using System.Buffers.Binary;

namespace Net.Zlink.Protocol.Zmp;

/// <summary>Walks through the properties of a READY, in place (docs/protocol.md section 8).</summary>
internal ref struct ZmpPropertyReader(ReadOnlySpan<byte> properties)
{
    private readonly int _length = properties.Length;
    private ReadOnlySpan<byte> _remaining = properties;

    /// <summary>The current property's name; any bytes, possibly none.</summary>
    public ReadOnlySpan<byte> Name { get; private set; }

    /// <summary>The current property's value; any bytes, possibly none.</summary>
    public ReadOnlySpan<byte> Value { get; private set; }

    /// <summary>Set when <see cref="MoveNext"/> ended at something that is not a whole property: "ready metadata invalid".</summary>
    public bool IsMalformed { get; private set; }

    /// <summary>Bytes up to the end of the current property.</summary>
    public readonly int Consumed => _length - _remaining.Length;

    /// <summary>Goes to the next property; false at the end, and where the bytes are malformed.</summary>
    public bool MoveNext()
    {
        if (_remaining.IsEmpty || IsMalformed)
        {
            return false;
        }

        int valueLengthAt = 1 + _remaining[0];
        int valueAt = valueLengthAt + sizeof(uint);
        if (_remaining.Length < valueAt)
        {
            IsMalformed = true;
            return false;
        }

        uint valueLength = BinaryPrimitives.ReadUInt32BigEndian(_remaining[valueLengthAt..]);
        if (valueLength > (uint)(_remaining.Length - valueAt))
        {
            IsMalformed = true;
            return false;
        }

        Name = _remaining[1..valueLengthAt];
        Value = _remaining.Slice(valueAt, (int)valueLength);
        _remaining = _remaining[(valueAt + (int)valueLength)..];
        return true;
    }
}
