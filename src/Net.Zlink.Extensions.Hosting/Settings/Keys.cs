namespace Net.Zlink.Extensions.Hosting;

internal static class Keys
{
    public const string Context = "Context";
    public const string Health = "Health";
    public const string Diagnostics = "Diagnostics";
    public const string Sockets = "Sockets";
    public const string Streams = "Streams";
    public const string Receivers = "Receivers";
    public const string Gateway = "Gateway";
    public const string Gateways = "Gateways";
    public const string Clients = "Clients";
    public const string SpotNodes = "SpotNodes";
    public const string Registry = "Registry";
    public const string Registries = "Registries";
    public const string FollowRegistries = "FollowRegistries";
    public const string Bind = "Bind";
    public const string Connect = "Connect";
    public const string Follow = "Follow";
    public const string Subscribe = "Subscribe";
    public const string Options = "Options";

    /// <summary>Sections with one child for each name.</summary>
    public static readonly string[] Kinds = [Sockets, Streams, Receivers, Gateways, Clients, SpotNodes];

    /// <summary>Sections of the one part of a kind that has no name.</summary>
    public static readonly string[] Singles = [Gateway, Registry];
}
