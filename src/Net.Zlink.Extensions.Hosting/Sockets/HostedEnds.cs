namespace Net.Zlink.Extensions.Hosting;

internal sealed record HostedEnds(ZlinkSocket Socket);
