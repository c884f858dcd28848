namespace Net.Zlink.Services;

/// <summary>What receivers and nodes send to a registry, and its answer (docs/protocol.md, "Service messages").</summary>
internal static class RegistrationFrames
{
    /// <summary>REGISTER or UPDATE_WEIGHT.</summary>
    public static void WriteRegister(MessageBuilder message, ushort id, ushort kind, ReadOnlySpan<byte> service,
        ReadOnlySpan<byte> endpoint, uint weight) =>
        message.AddUInt16(id).AddUInt16(kind).Add(service).Add(endpoint).AddUInt32(weight);

    /// <summary>UNREGISTER or HEARTBEAT, which nobody answers.</summary>
    public static void WriteShort(MessageBuilder message, ushort id, ushort kind, ReadOnlySpan<byte> service,
        ReadOnlySpan<byte> endpoint) =>
        message.AddUInt16(id).AddUInt16(kind).Add(service).Add(endpoint);

    /// <summary>REGISTER_ACK.</summary>
    public static void WriteAck(MessageBuilder message, byte status, ReadOnlySpan<byte> endpoint, string error) =>
        message.AddUInt16(MessageIds.RegisterAck).Add([status]).Add(endpoint).Add(error);

    /// <summary>Reads a REGISTER_ACK as leniently as the native receiver.</summary>
    /// <returns>False: it is none.</returns>
    public static bool TryReadAck(in Frames frames, out byte status, out string error)
    {
        status = AckStatus.Malformed;
        error = "";
        if (frames.Count < 2 || !frames.TryReadUInt16(0, out ushort id) || id != MessageIds.RegisterAck)
        {
            return false;
        }

        status = frames[1] is [byte only] ? only : AckStatus.Malformed;
        error = frames.Count > 3 ? System.Text.Encoding.UTF8.GetString(frames[3]) : "";
        return true;
    }
}

/// <summary>The first frame of every service message, 16 bits, little-endian.</summary>
internal static class MessageIds
{
    public const ushort Register = 0x0001;
    public const ushort RegisterAck = 0x0002;
    public const ushort Unregister = 0x0003;
    public const ushort Heartbeat = 0x0004;
    public const ushort ServiceList = 0x0005;

    /// <summary>A registry's own entries alone, for its peers. The native registry accepts it and never sends it.</summary>
    public const ushort RegistrySync = 0x0006;
    public const ushort UpdateWeight = 0x0007;
}

/// <summary>The status byte of a REGISTER_ACK.</summary>
internal static class AckStatus
{
    public const byte Done = 0x00;
    public const byte NotFound = 0x01;

    /// <summary>An invalid endpoint; by registries that admit not everybody, also a refusal by policy.</summary>
    public const byte Refused = 0x02;
    public const byte Malformed = 0xFF;
}
