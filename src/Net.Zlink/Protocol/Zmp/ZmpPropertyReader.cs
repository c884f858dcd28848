using System.Buffers.Binary;

namespace Net.Zlink.Protocol.Zmp;

/// <summary>Reads the properties of a READY in place (docs/protocol.md section 8).</summary>
internal ref struct ZmpPropertyReader(ReadOnlySpan<byte> properties)
{
    private readonly int _length = properties.Length;
    private ReadOnlySpan<byte> _remaining = properties;

    public ReadOnlySpan<byte> Name { get; private set; }

    public ReadOnlySpan<byte> Value { get; private set; }

    /// <summary><see cref="MoveNext"/> found an incomplete property: "ready metadata invalid".</summary>
    public bool IsMalformed { get; private set; }

    /// <summary>Up to the end of the current property.</summary>
    public readonly int Consumed => _length - _remaining.Length;

    /// <summary>False at the end, or if malformed.</summary>
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
