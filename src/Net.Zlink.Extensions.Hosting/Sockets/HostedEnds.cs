namespace Net.Zlink.Extensions.Hosting;

/// <summary>The socket of a name, whatever its type.</summary>
internal sealed record HostedEnds(ZlinkSocket Socket);
