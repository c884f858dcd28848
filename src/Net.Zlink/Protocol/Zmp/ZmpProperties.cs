using System.Diagnostics.CodeAnalysis;
using System.Text;

namespace Net.Zlink.Protocol.Zmp;

/// <summary>The properties of a peer's messages: what it said in READY, and what this side knows of the connection. Immutable, one per connection.</summary>
/// <remarks>
/// Of a name that comes twice the last value counts; what only this side can know, the peer's address and the descriptor, a peer cannot say. Names and values are bytes on the wire and
/// UTF-8 where they are shown as text.
/// </remarks>
internal sealed class ZmpProperties
{
    public const string SocketTypeKey = "Socket-Type";
    public const string IdentityKey = "Identity";
    public const string RoutingIdKey = "Routing-Id";
    public const string PeerAddressKey = "Peer-Address";

    /// <summary>The number of the connection's socket in this process, in decimal.</summary>
    public const string FileDescriptorKey = "__fd";

    // What is kept of a peer's own properties, which no limit but that of a message bounds on the wire. A native peer sends 2 of them, in at most 290 bytes.
    private const int MaxStoredProperties = 256;
    private const int MaxStoredBytes = 16 * 1024;

    private readonly Dictionary<string, ReadOnlyMemory<byte>> _values;

    private ZmpProperties(Dictionary<string, ReadOnlyMemory<byte>> values) => _values = values;

    public int Count => _values.Count;

    public IEnumerable<string> Names => _values.Keys;

    /// <summary>The properties of the body of a well-formed READY, and, over them, those of this side; null when there are none at all.</summary>
    /// <remarks>Properties beyond the first 256, or beyond the first 16 KiB, are not kept.</remarks>
    public static ZmpProperties? Of(ReadOnlySpan<byte> readyBody, params ReadOnlySpan<KeyValuePair<string, string>> own)
    {
        var values = new Dictionary<string, ReadOnlyMemory<byte>>(StringComparer.Ordinal);
        ZmpPropertyReader properties = ZmpReady.PropertiesOf(readyBody);
        while (values.Count < MaxStoredProperties && properties.MoveNext() && properties.Consumed <= MaxStoredBytes)
        {
            string name = Encoding.UTF8.GetString(properties.Name);
            if (name is not (PeerAddressKey or FileDescriptorKey)) // Ours to say, also where there is nothing to say.
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

    /// <summary>A property's value. "Identity" is answered by "Routing-Id" where it is missing, as the native core does.</summary>
    public bool TryGetValue(string name, out ReadOnlyMemory<byte> value) =>
        _values.TryGetValue(name, out value) || (string.Equals(name, IdentityKey, StringComparison.Ordinal) && _values.TryGetValue(RoutingIdKey, out value));

    /// <summary>A property's value as text, or false when there is none.</summary>
    public bool TryGetText(string name, [NotNullWhen(true)] out string? text)
    {
        bool found = TryGetValue(name, out ReadOnlyMemory<byte> value);
        text = found ? Encoding.UTF8.GetString(value.Span) : null;
        return found;
    }
}
