using Net.Zlink.Sockets.Patterns;

namespace Net.Zlink;

/// <summary>PAIR: talks to exactly one peer, both ways. A second peer is turned away until the first has gone and its messages are
/// read.</summary>
/// <remarks>Safe for any number of threads. A send without a peer waits for one.</remarks>
public sealed class PairSocket : DuplexSocket
{
    internal PairSocket(ZlinkContext context, PairOptions options)
        : base(context, new PairCore(context.Host, context.Inproc), options)
    {
        Options = options;
        WatchLimits();
        ((PairCore)Core).ReplacesSilent = options.ReplaceSilentPeer;
    }

    /// <summary>The options.</summary>
    public new PairOptions Options { get; }

    private protected override void ApplyOptions()
    {
        base.ApplyOptions();
        ((PairCore)Core).ReplacesSilent = Options.ReplaceSilentPeer;
    }
}
