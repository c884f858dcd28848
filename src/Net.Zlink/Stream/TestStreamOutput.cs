using System.Runtime.InteropServices;
using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Sockets;

namespace Net.Zlink;

/// <summary>Passes what a handler sends to its unit test: <see cref="StreamPeer.Create"/>.</summary>
internal sealed class TestStreamOutput(Func<ReadOnlyMemory<byte>, ZlinkError> send) : IStreamOutput
{
    public ZlinkError TrySend(StreamLink link, ReadOnlySpan<byte> payload) =>
        link.HasEnded ? ZlinkError.HostUnreachable : send(payload.ToArray());

    public int SendMany(StreamLink link, StreamFrames frames, out ZlinkError error)
    {
        var payloads = new List<ReadOnlyMemory<byte>>(frames.Count);
        foreach (ReadOnlyMemory<byte> payload in frames)
        {
            payloads.Add(payload);
        }

        return SendMany(link, CollectionsMarshal.AsSpan(payloads), out error);
    }

    public int SendMany(StreamLink link, ReadOnlySpan<ReadOnlyMemory<byte>> payloads, out ZlinkError error)
    {
        error = ZlinkError.None;
        int sent = 0;
        while (sent < payloads.Length && (error = TrySend(link, payloads[sent].Span)) == ZlinkError.None)
        {
            sent++;
        }

        return sent;
    }

    public ValueTask SendAsync(StreamLink link, ReadOnlyMemory<byte> payload, CancellationToken cancellation)
    {
        if (cancellation.IsCancellationRequested)
        {
            return ValueTask.FromCanceled(cancellation);
        }

        ZlinkError error = TrySend(link, payload.Span);
        return error == ZlinkError.None ? ValueTask.CompletedTask : ValueTask.FromException(Refusal(error));
    }

    public ValueTask<int> SendManyAsync(
        StreamLink link, ReadOnlyMemory<ReadOnlyMemory<byte>> payloads, CancellationToken cancellation)
    {
        if (cancellation.IsCancellationRequested)
        {
            return ValueTask.FromCanceled<int>(cancellation);
        }

        int sent = SendMany(link, payloads.Span, out ZlinkError error);
        return sent == 0 && !payloads.IsEmpty ? ValueTask.FromException<int>(Refusal(error)) : ValueTask.FromResult(sent);
    }

    public bool Disconnect(StreamLink link, CloseMode mode) => link.TryEnd(DisconnectReason.Local);

    private static ZlinkException Refusal(ZlinkError error) => new(error, "the peer was created for a test and refused the payload");
}
