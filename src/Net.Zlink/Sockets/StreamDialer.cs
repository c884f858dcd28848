using System.Net.Sockets;
using Net.Zlink.Monitoring;
using Net.Zlink.Transports;
using Net.Zlink.Transports.Tcp;

namespace Net.Zlink.Sockets;

/// <summary>How a lost outgoing connection is made anew.</summary>
/// <param name="Interval">The first pause.</param>
/// <param name="MaxInterval">Above zero the pause doubles up to it; zero: each is the interval plus a random part of it.</param>
internal sealed record ReconnectPolicy(TimeSpan Interval, TimeSpan MaxInterval)
{
    /// <summary>The pause before attempt <paramref name="attempt"/>, counted from 0: the native core's rule (docs/protocol.md section 4).</summary>
    public TimeSpan PauseBefore(int attempt)
    {
        if (MaxInterval <= TimeSpan.Zero)
        {
#pragma warning disable CA5394 // Spreads reconnects out in time; nothing secret hangs on it.
            return Interval + (Interval * Random.Shared.NextDouble());
#pragma warning restore CA5394
        }

        TimeSpan pause = Interval;
        for (int i = 0; i < attempt && pause < MaxInterval; i++)
        {
            pause *= 2;
        }

        return pause < MaxInterval ? pause : MaxInterval;
    }
}

/// <summary>One outgoing endpoint: dials it, and dials it again after a loss where that was asked for. Each connection is a new peer with a new id.</summary>
internal sealed class StreamDialer(StreamHub hub, string text, TcpConnectAddress address, StreamSettings settings, IPeerFactory factory, ReconnectPolicy? reconnect)
{
    /// <summary>Reads an endpoint to connect to.</summary>
    public static bool TryParse(string text, out TcpConnectAddress address, out EndpointError error)
    {
        address = null!;
        return EndpointText.TryParse(text, out EndpointText parts, out error) && TcpConnectAddress.TryParse(parts.Rest, out address, out error);
    }

    /// <summary>One attempt.</summary>
    /// <returns>The new peer's id, or 0 and the reason.</returns>
    public async ValueTask<(uint Id, TcpDialResult Failure)> DialAsync(CancellationToken cancellation)
    {
        // The native core reports every attempt as delayed, with EINPROGRESS.
        const int InProgress = 115;
        hub.Monitors.Publish(SocketEventTypes.ConnectDelayed, InProgress, "", text);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(cancellation, hub.Closing);
        TcpDialResult result = await TcpDialer.DialAsync(address, settings.Tcp, hub.Host.Time, either.Token).ConfigureAwait(false);
        if (result.Socket is null)
        {
            hub.Monitors.Publish(SocketEventTypes.Closed, 0, "", text, detail: result.Sentence);
            return (0, result);
        }

        Interlocked.Increment(ref hub.Counters.Dialled);
        uint id = factory.Create(hub, result.Socket, settings, text, origin: this);
        return id == 0 ? (0, new TcpDialResult(null, SocketError.ConnectionReset, "the connection was reset at once")) : (id, default);
    }

    /// <summary>A connection of this dialer is gone.</summary>
    public void OnLost(DisconnectReason reason)
    {
        bool ours = reason is DisconnectReason.Local or DisconnectReason.ContextTerminated or DisconnectReason.ProtocolError or DisconnectReason.HandlerFailed;
        if (reconnect is not null && !ours && !hub.IsClosed)
        {
            _ = ReconnectAsync(reconnect);
        }
    }

    private async Task ReconnectAsync(ReconnectPolicy policy)
    {
        for (int attempt = 0; !hub.IsClosed; attempt++)
        {
            TimeSpan pause = policy.PauseBefore(attempt);

            // Armed before it is announced: who hears of it may move the clock.
            Task delay = Task.Delay(pause, hub.Host.Time, hub.Closing);
            hub.Monitors.Publish(SocketEventTypes.ConnectRetried, (long)pause.TotalMilliseconds, "", text);
            try
            {
                await delay.ConfigureAwait(false);
            }
            catch (OperationCanceledException)
            {
                return; // The socket was closed meanwhile.
            }

            (uint id, _) = await DialAsync(CancellationToken.None).ConfigureAwait(false);
            if (id != 0)
            {
                return;
            }
        }
    }
}
