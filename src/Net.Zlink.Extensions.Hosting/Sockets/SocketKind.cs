using Microsoft.Extensions.Configuration;

namespace Net.Zlink.Extensions.Hosting;

// Bind needs the options' type at the call, because it binds without reflection.
internal sealed record SocketKind<TOptions>(
    string Name, Func<ZlinkContext, TOptions, ZlinkSocket> Create, Action<IConfiguration, TOptions> Bind)
    where TOptions : SocketOptions, new();

internal static class SocketKinds
{
    public static readonly SocketKind<PairOptions> Pair = new(
        "PAIR", static (context, options) => context.CreatePair(options), static (from, to) => from.Bind(to, Strictly));

    public static readonly SocketKind<DealerOptions> Dealer = new(
        "DEALER", static (context, options) => context.CreateDealer(options), static (from, to) => from.Bind(to, Strictly));

    public static readonly SocketKind<RouterOptions> Router = new(
        "ROUTER", static (context, options) => context.CreateRouter(options), static (from, to) => from.Bind(to, Strictly));

    public static readonly SocketKind<PubOptions> Pub = new(
        "PUB", static (context, options) => context.CreatePub(options), static (from, to) => from.Bind(to, Strictly));

    public static readonly SocketKind<SubOptions> Sub = new(
        "SUB", static (context, options) => context.CreateSub(options), static (from, to) => from.Bind(to, Strictly));

    public static readonly SocketKind<XPubOptions> XPub = new(
        "XPUB", static (context, options) => context.CreateXPub(options), static (from, to) => from.Bind(to, Strictly));

    public static readonly SocketKind<XSubOptions> XSub = new(
        "XSUB", static (context, options) => context.CreateXSub(options), static (from, to) => from.Bind(to, Strictly));

    public static readonly SocketKind<StreamOptions> Stream = new(
        "STREAM", static (context, options) => context.CreateStream(options), static (from, to) => from.Bind(to, Strictly));

    public static void Strictly(BinderOptions binder) => binder.ErrorOnUnknownConfiguration = true;
}
