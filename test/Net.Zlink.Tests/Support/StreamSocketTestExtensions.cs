using Net.Zlink.Monitoring;
using Xunit;

namespace Net.Zlink.Tests.Support;

/// <summary>Guarded receives and sends, in words a test can be read in.</summary>
internal static class StreamSocketTestExtensions
{
    public static Task<StreamMessage> NextAsync(this StreamSocket socket) => socket.ReceiveAsync(Guard.Token).Guarded();

    /// <summary>The next message must be a connect event; returns the new peer's id.</summary>
    public static async Task<uint> NextConnectedAsync(this StreamSocket socket)
    {
        using StreamMessage message = await socket.NextAsync();
        Assert.Equal(StreamMessageKind.Connected, message.Kind);
        Assert.True(message.Payload.IsEmpty);
        return message.PeerId;
    }

    /// <summary>The next message must be a disconnect event.</summary>
    public static async Task<(uint PeerId, DisconnectReason Reason)> NextDisconnectedAsync(this StreamSocket socket)
    {
        using StreamMessage message = await socket.NextAsync();
        Assert.Equal(StreamMessageKind.Disconnected, message.Kind);
        Assert.True(message.Payload.IsEmpty);
        return (message.PeerId, message.Reason);
    }

    /// <summary>The next message must be data; returns a copy of its payload.</summary>
    public static async Task<byte[]> NextDataAsync(this StreamSocket socket, uint peerId)
    {
        using StreamMessage message = await socket.NextAsync();
        Assert.Equal(StreamMessageKind.Data, message.Kind);
        Assert.Equal(peerId, message.PeerId);
        return message.Span.ToArray();
    }

    /// <summary>Reads events up to the first of a type.</summary>
    public static async Task<SocketEvent> NextAsync(this EventReader monitor, SocketEventTypes type)
    {
        while (true)
        {
            SocketEvent one = await monitor.ReadAsync(Guard.Token).Guarded();
            if (one.Type == type)
            {
                return one;
            }
        }
    }

    /// <summary>Sends huge payloads to a peer that does not read, until its limit is reached: exactly as many as the limit lets in. Returns
    /// how many.</summary>
    public static int Fill(this StreamSocket socket, uint peerId)
    {
        int accepted = 0;
        SendResult result;
        while (result = socket.To(peerId).TrySend(Wire.Huge))
        {
            accepted++;
        }

        Assert.Equal(SendFailure.Full, result.Reason);
        return accepted;
    }
}
