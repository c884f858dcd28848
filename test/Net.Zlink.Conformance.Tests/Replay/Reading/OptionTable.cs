using System.Collections.Frozen;
using System.Text.Json;
using Net.Zlink.Conformance.Tests.Replay.Model;

namespace Net.Zlink.Conformance.Tests.Replay.Reading;

/// <summary>The socket options that transcripts name, with the type of their values.</summary>
internal static class OptionTable
{
    private static readonly FrozenDictionary<string, OptionKind> Kinds = new Dictionary<string, OptionKind>(StringComparer.Ordinal)
    {
        ["ROUTING_ID"] = OptionKind.Bytes,
        ["SUBSCRIBE"] = OptionKind.Bytes,
        ["UNSUBSCRIBE"] = OptionKind.Bytes,
        ["CONNECT_ROUTING_ID"] = OptionKind.Bytes,
        ["XPUB_WELCOME_MSG"] = OptionKind.Bytes,
        ["MAXMSGSIZE"] = OptionKind.Int64,
        ["RECONNECT_IVL"] = OptionKind.Int32,
        ["XPUB_VERBOSE"] = OptionKind.Int32,
        ["PROBE_ROUTER"] = OptionKind.Int32,
        ["ROUTER_HANDOVER"] = OptionKind.Int32,
        ["HANDSHAKE_IVL"] = OptionKind.Int32,
        ["XPUB_MANUAL"] = OptionKind.Int32,
        ["INVERT_MATCHING"] = OptionKind.Int32,
        ["HEARTBEAT_IVL"] = OptionKind.Int32,
        ["HEARTBEAT_TTL"] = OptionKind.Int32,
        ["HEARTBEAT_TIMEOUT"] = OptionKind.Int32,
        ["XPUB_VERBOSER"] = OptionKind.Int32,
        ["ONLY_FIRST_SUBSCRIBE"] = OptionKind.Int32,
        ["ZMP_METADATA"] = OptionKind.Int32,
    }.ToFrozenDictionary(StringComparer.Ordinal);

    /// <summary>Reads one option; a list is one setting per element.</summary>
    public static IEnumerable<SideOption> Read(string name, JsonElement value, string what)
    {
        if (!Kinds.TryGetValue(name, out OptionKind kind))
        {
            throw new TranscriptFormatException($"{what}: unknown option {name}");
        }

        IEnumerable<JsonElement> elements = value.ValueKind is JsonValueKind.Array ? value.EnumerateArray() : [value];
        return elements.Select(element => new SideOption(name, Value(kind, element, $"{what}.{name}")));
    }

    /// <summary>Reads the one value of a set action, whose <paramref name="type"/> must be the option's.</summary>
    public static SideOption ReadTyped(string name, string type, JsonElement value, string what)
    {
        SideOption option = Read(name, value, what).Single();
        string wanted = option.Value.Kind switch
        {
            OptionKind.Bytes => "bytes",
            OptionKind.Int32 => "int32",
            _ => "int64",
        };
        return string.Equals(type, wanted, StringComparison.Ordinal) ? option
            : throw new TranscriptFormatException($"{what}: {name} is of type {wanted}, not {type}");
    }

    private static OptionValue Value(OptionKind kind, JsonElement value, string what)
    {
        if (kind is OptionKind.Bytes)
        {
            return OptionValue.Of(BytesValue.Read(value, what));
        }

        bool fits = value.ValueKind is JsonValueKind.Number && value.TryGetInt64(out long number)
            && (kind is OptionKind.Int64 || number is >= int.MinValue and <= int.MaxValue);
        return fits ? OptionValue.Of(kind, value.GetInt64()) : throw new TranscriptFormatException($"{what}: not an {kind}");
    }
}
