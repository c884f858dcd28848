namespace Net.Zlink.Monitoring;

/// <summary>Routing ids for people.</summary>
internal static class RoutingIdText
{
    /// <summary>The text of the id where it is plain ASCII that does not begin with 0x, else 0x and hexadecimal digits.</summary>
    public static string Of(ReadOnlySpan<byte> routingId) => routingId.IsEmpty ? "(no id)"
        : routingId.ContainsAnyExceptInRange((byte)0x21, (byte)0x7E) || routingId.StartsWith("0x"u8)
            ? $"0x{Convert.ToHexStringLower(routingId)}"
        : System.Text.Encoding.ASCII.GetString(routingId);
}
