using Net.Zlink.Conformance.Tests.Replay.Model;

namespace Net.Zlink.Conformance.Tests.Sides.Zmp;

/// <summary>The native options that all ZMP types share, by name.</summary>
internal static class ZmpOptionNames
{
    /// <summary>Sets an option; false if it is not one of these.</summary>
    public static bool TrySet(ZmpSocketOptions options, SideOption option)
    {
        switch (option.Name)
        {
            case "ROUTING_ID":
                options.RoutingId = option.Value.Bytes;
                return true;
            case "MAXMSGSIZE":
                options.MaxMessageSize = option.Value.Number < 0 ? null : option.Value.Number;
                return true;
            case "RECONNECT_IVL":
                options.ReconnectInterval = TimeSpan.FromMilliseconds(Math.Max(0, option.Value.Number)); // -1 and 0 mean the same: do not.
                return true;
            case "HANDSHAKE_IVL":
                options.HandshakeInterval = Time(option);
                return true;
            case "HEARTBEAT_IVL":
                options.HeartbeatInterval = Time(option);
                return true;
            case "HEARTBEAT_TTL":
                options.HeartbeatTtl = Time(option);
                return true;
            case "HEARTBEAT_TIMEOUT":
                options.HeartbeatTimeout = option.Value.Number < 0 ? null : Time(option);
                return true;
            case "ZMP_METADATA":
                options.SendMetadata = IsOn(option);
                return true;
            default:
                return false;
        }
    }

    public static bool IsOn(SideOption option) => option.Value.Number != 0;

    private static TimeSpan Time(SideOption option) => TimeSpan.FromMilliseconds(option.Value.Number);
}
