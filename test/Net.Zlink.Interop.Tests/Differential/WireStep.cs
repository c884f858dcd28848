using Net.Zlink.Interop.Tests.Peers;

namespace Net.Zlink.Interop.Tests.Differential;

/// <summary>One thing that happens in a conversation of a socket with raw peers, who are numbered from 0.</summary>
internal abstract record WireStep
{
    /// <summary>A raw peer connects, or is connected to.</summary>
    /// <param name="Peer">Who.</param>
    /// <param name="Head">Its half of a WebSocket upgrade, see <see cref="WebSocketTalk.Head"/>; empty over other transports.</param>
    public sealed record Open(int Peer, string Head) : WireStep;

    /// <summary>A raw peer writes bytes, in pieces of the given lengths (the last one takes the rest).</summary>
    /// <param name="Peer">Who.</param>
    /// <param name="Bytes">What.</param>
    /// <param name="Pieces">Lengths of the writes.</param>
    /// <param name="Answers">The peer has said all that it needs for its heartbeat to be answered.</param>
    /// <param name="Wrapping">Over WebSocket the number that the frames of each piece are made up from, see
    /// <see cref="WebSocketTalk.Wrap"/>.</param>
    public sealed record Write(int Peer, byte[] Bytes, int[] Pieces, bool Answers, int Wrapping) : WireStep;

    /// <summary>A raw peer over WebSocket writes a frame that is made already.</summary>
    /// <param name="Peer">Who.</param>
    /// <param name="What">In words.</param>
    /// <param name="Frame">The frame.</param>
    /// <param name="Answers">As above.</param>
    public sealed record WriteFrame(int Peer, string What, byte[] Frame, bool Answers) : WireStep;

    /// <summary>A raw peer ends, in order or by a reset.</summary>
    public sealed record End(int Peer, bool Resets) : WireStep;

    /// <summary>The application sends a message, without waiting.</summary>
    public sealed record Send(byte[][] Parts) : WireStep;

    /// <summary>The application receives all there is.</summary>
    public sealed record Receive : WireStep;

    /// <summary>The application unbinds its endpoint, or disconnects from a peer, and then binds or connects once more.</summary>
    /// <param name="Peer">Of those it connects to; a binder has one endpoint.</param>
    public sealed record Anew(int Peer) : WireStep;

    /// <summary>The application calls something else on its socket.</summary>
    public sealed record Call(string What, Action<IPeerSocket> On) : WireStep;

    public sealed override string ToString() => this switch
    {
        Call call => $"application {call.What}",
        Open open => $"peer {open.Peer} connects{(open.Head.Length > 0 ? $" with {open.Head.ReplaceLineEndings(" | ")}" : "")}",
        Write write => $"peer {write.Peer} writes {Convert.ToHexStringLower(write.Bytes)} in {write.Pieces.Length + 1}",
        WriteFrame write => $"peer {write.Peer} {write.What}: {Convert.ToHexStringLower(write.Frame)}",
        Anew anew => $"application leaves {anew.Peer} and comes back",
        End end => $"peer {end.Peer} {(end.Resets ? "resets" : "ends")}",
        Send send => $"application sends {string.Join('|', send.Parts.Select(Convert.ToHexStringLower))}",
        _ => "application receives",
    };
}
