namespace Net.Zlink.Services;

/// <summary>The status byte of a REGISTER_ACK.</summary>
internal static class AckStatus
{
    public const byte Done = 0x00;
    public const byte NotFound = 0x01;

    /// <summary>An invalid endpoint; by registries that admit not everybody, also a refusal by policy.</summary>
    public const byte Refused = 0x02;
    public const byte Malformed = 0xFF;
}
