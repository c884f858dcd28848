using System.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Sockets;

namespace Net.Zlink;

/// <summary>Passes what a handler sends to its unit test: <see cref="StreamPeer.Create"/>.</summary>
internal sealed class TestStreamOutput(Func<ReadOnlyMemory<byte>, SendResult> send) : IStreamOutput
{
    public SendResult TrySend(StreamLink link, ReadOnlySpan<byte> payload) =>
        link.HasEnded ? SendFailure.NoPeer : send(payload.ToArray());

    public void Send(StreamLink link, ReadOnlySpan<byte> payload, TimeSpan? timeout) => ThrowUnlessSent(TrySend(link, payload));

    public ValueTask SendAsync(StreamLink link, ReadOnlyMemory<byte> payload, IMemoryOwner<byte>? owner, CancellationToken cancellation)
    {
        if (cancellation.IsCancellationRequested)
        {
            return ValueTask.FromCanceled(cancellation);
        }

        SendResult result = TrySend(link, payload.Span);
        if (!result)
        {
            return ValueTask.FromException(Refusal(result));
        }

        owner?.Dispose();
        return ValueTask.CompletedTask;
    }

    public bool Disconnect(StreamLink link, CloseMode mode) => link.TryEnd(DisconnectReason.Local, out _);

    private static void ThrowUnlessSent(SendResult result)
    {
        if (!result)
        {
            throw Refusal(result);
        }
    }

    private static Exception Refusal(SendResult result)
    {
        const string Words = "the peer was created for a test and refused the payload";
        return result.Reason switch
        {
            SendFailure.Full => new TimeoutException(Words),
            SendFailure.NoMemory => new ZlinkException(ZlinkError.NoMemory, Words),
            SendFailure.IsPipe => new ZlinkException(ZlinkError.NotSupported, Words),
            _ => new ZlinkException(ZlinkError.HostUnreachable, Words),
        };
    }
}
