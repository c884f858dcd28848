namespace Net.Zlink.Monitoring;

/// <summary>Routing ids for people.</summary>
internal static class RoutingIdText
{
    /// <summary>Its text where it is plain ASCII, else hexadecimal digits.</summary>
    public static string Of(ReadOnlySpan<byte> routingId) => routingId.IsEmpty ? "(no id)"
        : routingId.ContainsAnyExceptInRange((byte)0x21, (byte)0x7E) ? Convert.ToHexStringLower(routingId)
        : System.Text.Encoding.ASCII.GetString(routingId);
}
