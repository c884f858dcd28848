using Net.Zlink.Engine;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Sockets.Patterns;
using Net.Zlink.Sockets.Zmp;

namespace Net.Zlink;

/// <summary>
/// PAIR: exchanges messages with exactly one peer. A second peer is rejected while the first one answers, or has unread messages: see
/// <see cref="PairOptions.ReplaceSilentPeer"/>.
/// </summary>
/// <remarks>Thread-safe. Without a peer, a send waits for one.</remarks>
/// <example>
/// <code>
/// PairSocket left = context.CreatePair(), right = context.CreatePair();
/// left.Bind("inproc://pair");
/// right.Connect("inproc://pair");
/// await left.SendAsync("ping");
/// using Message message = await right.ReceiveAsync();
/// </code>
/// </example>
public sealed class PairSocket : DuplexSocket
{
    internal PairSocket(EngineHost host, InprocRegistry inproc, PairOptions options)
        : base(new ZmpEndpoints(new PairCore(host), inproc), options)
    {
    }

    /// <summary>The options. Each option says when a change takes effect.</summary>
    public new PairOptions Options => (PairOptions)base.Options;

    private protected override void ApplyOptions()
    {
        base.ApplyOptions();
        ((PairCore)Core).ReplacesSilent = Options.ReplaceSilentPeer;
    }
}
