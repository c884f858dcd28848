using System.Buffers.Binary;
using System.Diagnostics.CodeAnalysis;
using System.Text;

namespace Net.Zlink.Protocol.Zmp;

/// <summary>The last value of a repeated name counts. Only this side sets the address and the descriptor.</summary>
internal sealed class ZmpProperties
{
    public const string IdentityKey = "Identity";
    public const string RoutingIdKey = "Routing-Id";
    public const string PeerAddressKey = "Peer-Address";

    public const string FileDescriptorKey = "__fd";

    // Limits a peer's properties, which only the message limit bounds on the wire. A native peer sends 2, in at most 290 bytes.
    private const int MaxStoredProperties = 256;
    private const int MaxStoredBytes = 16 * 1024;

    private readonly Dictionary<string, ReadOnlyMemory<byte>> _values;

    private ZmpProperties(Dictionary<string, ReadOnlyMemory<byte>> values) => _values = values;

    public int Count => _values.Count;

    /// <summary>This side's properties override those of READY.</summary>
    public static ZmpProperties? Of(ReadOnlySpan<byte> readyBody, params ReadOnlySpan<KeyValuePair<string, string>> own)
    {
        var values = new Dictionary<string, ReadOnlyMemory<byte>>(StringComparer.Ordinal);
        ZmpPropertyReader properties = ZmpReady.PropertiesOf(readyBody);
        while (values.Count < MaxStoredProperties && properties.MoveNext() && properties.Consumed <= MaxStoredBytes)
        {
            string name = Encoding.UTF8.GetString(properties.Name);
            if (name is not (PeerAddressKey or FileDescriptorKey)) // Set by this side only.
            {
                values[name] = properties.Value.ToArray();
            }
        }

        foreach (KeyValuePair<string, string> property in own)
        {
            values[property.Key] = Encoding.UTF8.GetBytes(property.Value);
        }

        return values.Count == 0 ? null : new ZmpProperties(values);
    }

    /// <summary>"Identity" falls back to "Routing-Id", as in the native core.</summary>
    public bool TryGetValue(string name, out ReadOnlyMemory<byte> value) =>
            _values.TryGetValue(name, out value)
            || (string.Equals(name, IdentityKey, StringComparison.Ordinal) && _values.TryGetValue(RoutingIdKey, out value));

    public bool TryGetText(string name, [NotNullWhen(true)] out string? text)
    {
        bool found = TryGetValue(name, out ReadOnlyMemory<byte> value);
        text = found ? Encoding.UTF8.GetString(value.Span) : null;
        return found;
    }
}

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
        uint valueLength = _remaining.Length < valueAt ? 0 : BinaryPrimitives.ReadUInt32BigEndian(_remaining[valueLengthAt..]);
        if (valueLength > _remaining.Length - valueAt)
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
