using System.Buffers.Binary;

namespace Net.Zlink.Protocol.Zmp;

internal ref struct ZmpPropertyReader(ReadOnlySpan<byte> properties)
{
    private readonly int _length = properties.Length;
    private ReadOnlySpan<byte> _remaining = properties;

    public ReadOnlySpan<byte> Name { get; private set; }

    public ReadOnlySpan<byte> Value { get; private set; }

    public bool IsMalformed { get; private set; }

    public readonly int Consumed => _length - _remaining.Length;

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
