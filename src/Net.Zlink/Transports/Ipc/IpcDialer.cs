using System.Net.Sockets;

namespace Net.Zlink.Transports.Ipc;

internal static class IpcDialer
{
    private static readonly TimeSpan DefaultTimeout = TimeSpan.FromSeconds(127);

    private static readonly TimeSpan LongestTimeout = TimeSpan.FromDays(1);

    // A listener accepts a full queue within 20 ms. With 32 ms, a hundred waiting dials cost 3,000 calls a second.
    private static readonly TimeSpan FirstPause = TimeSpan.FromMilliseconds(1);
    private static readonly TimeSpan LongestPause = TimeSpan.FromMilliseconds(32);

    /// <summary>
    /// A full listener's queue refuses at once (a tcp connect would wait), so this retries until
    /// <see cref="SocketSettings.ConnectTimeout"/>.
    /// </summary>
    public static async Task<DialResult> DialAsync(
        IpcEndpoint endpoint, SocketSettings settings, TimeProvider time, DescriptorHeadroom headroom, Action? connecting,
        CancellationToken cancellation)
    {
        IpcAddress address = endpoint.Address;
        var unsupported = IpcFaults.Unsupported(address);
        if (unsupported.Code != ZlinkError.None)
        {
            return new DialResult(null, SocketError.AddressFamilyNotSupported, unsupported.Sentence);
        }

        if (cancellation.IsCancellationRequested)
        {
            return DialResult.Cancelled(address.Text);
        }

        var limit = settings.ConnectTimeout <= TimeSpan.Zero ? DefaultTimeout
            : settings.ConnectTimeout < LongestTimeout ? settings.ConnectTimeout : LongestTimeout;
        using var deadline = new Deadline(limit, time, cancellation);
        for (var pause = FirstPause; ; pause = pause + pause < LongestPause ? pause + pause : LongestPause)
        {
            var result = await TryAsync(endpoint, settings, headroom, connecting, deadline.Token).ConfigureAwait(false);
            connecting = null;
            if (result.Error == SocketError.WouldBlock)
            {
                await Task.Delay(pause, time, deadline.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            }

            if (result.Error != SocketError.WouldBlock || deadline.Token.IsCancellationRequested)
            {
                return result.Wire is not null ? result
                    : cancellation.IsCancellationRequested ? DialResult.Cancelled(address.Text)
                    : deadline.IsOver ? IpcFaults.TimedOut(address.Text, limit)
                    : result;
            }
        }
    }

    private static async Task<DialResult> TryAsync(
        IpcEndpoint endpoint, SocketSettings settings, DescriptorHeadroom headroom, Action? connecting, CancellationToken cancellation)
    {
        IpcAddress address = endpoint.Address;
        Socket? socket = null;
        try
        {
            socket = IpcAddress.Open();
            if (headroom.IsTouchedBy(socket))
            {
                return IpcFaults.Refused(SocketError.TooManyOpenSockets, address.Text);
            }

            settings.SetBuffersOf(socket);
            UnixDomainSocketEndPoint remote = address.ToEndPoint();
            connecting?.Invoke();
            await socket.ConnectAsync(remote, cancellation).ConfigureAwait(false);
            socket.Blocking = false;
            var wire = new SocketWire(socket, endpoint.Transport);
            socket = null;
            return new DialResult(wire, SocketError.Success, "");
        }
        catch (SocketException e)
        {
            return IpcFaults.Refused(e.SocketErrorCode, address.Text);
        }
        catch (Exception e) when (e is OperationCanceledException or ObjectDisposedException)
        {
            // A cancellation disposes the socket, also one that has connected in the same moment.
            return IpcFaults.Refused(SocketError.OperationAborted, address.Text);
        }
        catch (ArgumentOutOfRangeException)
        {
            return new DialResult(null, SocketError.InvalidArgument, IpcAddress.TooLong(address.Text).Sentence);
        }
        finally
        {
            socket?.Dispose();
        }
    }
}
