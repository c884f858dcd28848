namespace Net.Zlink.Monitoring;

internal static class RoutingIdText
{
    public static string Of(ReadOnlySpan<byte> routingId) => routingId.IsEmpty ? "(no id)"
        : routingId.ContainsAnyExceptInRange((byte)0x21, (byte)0x7E) || routingId.StartsWith("0x"u8)
            ? $"0x{Convert.ToHexStringLower(routingId)}"
        : System.Text.Encoding.ASCII.GetString(routingId);
}
