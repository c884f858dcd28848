namespace Net.Zlink.Extensions.Hosting;

internal sealed record SocketKind<TOptions>(string Name, Func<ZlinkContext, TOptions, ZlinkSocket> Create)
    where TOptions : SocketOptions, new();

internal static class SocketKinds
{
    public static readonly SocketKind<PairOptions> Pair = new(
        "PAIR", static (context, options) => context.CreatePair(options));

    public static readonly SocketKind<DealerOptions> Dealer = new(
        "DEALER", static (context, options) => context.CreateDealer(options));

    public static readonly SocketKind<RouterOptions> Router = new(
        "ROUTER", static (context, options) => context.CreateRouter(options));

    public static readonly SocketKind<PubOptions> Pub = new(
        "PUB", static (context, options) => context.CreatePub(options));

    public static readonly SocketKind<SubOptions> Sub = new(
        "SUB", static (context, options) => context.CreateSub(options));

    public static readonly SocketKind<XPubOptions> XPub = new(
        "XPUB", static (context, options) => context.CreateXPub(options));

    public static readonly SocketKind<XSubOptions> XSub = new(
        "XSUB", static (context, options) => context.CreateXSub(options));

    public static readonly SocketKind<StreamOptions> Stream = new(
        "STREAM", static (context, options) => context.CreateStream(options));
}
